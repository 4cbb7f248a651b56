/** What stands around the event's own keys in the body of a webhook (specification 6.2 rule 2). */
import type { EventSender } from '#actors/model.ts';

export const envelopeView = ({ owner, token, name, baseUrl }: EventSender, type: string) => ({
  BaseUrl: baseUrl,
  EventType: type,
  owner,
  token,
  instanceName: name,
});
