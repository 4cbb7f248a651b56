/** The fields around the event's own keys in the body of a webhook (docs/events.md). */
import type { EventSender } from '#actors/model.ts';

export const envelopeView = ({ owner, token, name, baseUrl }: EventSender, type: string) => ({
  BaseUrl: baseUrl,
  EventType: type,
  owner,
  token,
  instanceName: name,
});
