/** Webhooks of programs on whatsmeow in the words of this gateway. */
import type { CarriedSettings } from '../session.ts';
import { mapEvents, secretOf, signatureNotes, webhookOf } from '../settings.ts';

/** Names of events of a program with ours. */
export type EventTable = Readonly<Record<string, string>>;

/** Several names with the same counterpart, separated by white space. */
export const named = (list: string, ours: string): EventTable => Object.fromEntries(list.split(/\s+/).map((name) => [name, ours]));

export interface SourceWebhook {
  readonly url: string;
  readonly events: readonly string[];
  /** The key with which the program signs, as text; '' for none. */
  readonly key: string;
}

export const carriedWebhook = ({ url, events, key }: SourceWebhook, table: EventTable): Pick<CarriedSettings, 'webhooks' | 'lost'> => {
  if (url === '') return { webhooks: [], lost: [] };
  const names = events.map((name) => name.trim()).filter((name) => name !== '');
  const mapped = mapEvents(names, table);
  const secret = secretOf(key);
  const webhook = webhookOf({ url, events: mapped.events, secret });
  const lost = mapped.lost.length > 0 ? [`webhook: no events are like ${mapped.lost.join(', ')}`] : [];
  return webhook === null ? { webhooks: [], lost } : { webhooks: [webhook], lost: [...lost, ...signatureNotes(key, secret)] };
};
