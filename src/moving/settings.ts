/** Converts settings of other gateways to settings of this gateway. */
import type { CarriedSettings, CarriedWebhook } from './session.ts';

interface MappedEvents {
  readonly events: readonly string[];
  /** Names of events without a counterpart. */
  readonly lost: readonly string[];
}

/** Maps names of events by a table. A name that maps to `all` selects all events. */
export const mapEvents = (names: readonly string[], table: Readonly<Record<string, string>>): MappedEvents => {
  const known = names.filter((name) => Object.hasOwn(table, name));
  const events = [...new Set(known.map((name) => table[name] ?? ''))];
  return { events: events.includes('all') ? ['all'] : events, lost: names.filter((name) => !known.includes(name)) };
};

/** Makes a webhook. Returns null if `given` has no address or no events. */
export const webhookOf = (given: Partial<CarriedWebhook> & Pick<CarriedWebhook, 'url' | 'events'>): CarriedWebhook | null =>
  given.url === '' || given.events.length === 0
    ? null
    : { enabled: true, excludeMessages: [], addUrlEvents: false, addUrlTypesMessages: false, secret: '', headers: {}, ...given };

/** Returns the address of a proxy; '' if `host` is empty. */
export const proxyUrl = (protocol: string, host: string, username = '', password = ''): string => {
  if (host === '') return '';
  const credentials = username === '' ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
  return `${protocol === '' ? 'http' : protocol}://${credentials}${host}`;
};

/** Returns the headers whose values are texts. */
export const headersOf = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
    : {};

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};

/** The smallest and the largest length of a key in the Standard Webhooks specification. In bytes. */
const [least, most] = [24, 64] as const;

/** Returns the secret of a webhook for the signing key of the source; '' if the key is shorter or longer than the specification allows. */
export const secretOf = (key: string): string => {
  const bytes = Buffer.from(key);
  return bytes.length >= least && bytes.length <= most ? `whsec_${bytes.toString('base64')}` : '';
};

/** Returns a sentence about the signing key, or none without a key. `secret` is the result of `secretOf`. */
export const signatureNotes = (key: string, secret: string): readonly string[] => {
  if (key === '') return [];
  return secret === ''
    ? [`signature of the webhook: its key has less than ${least} or more than ${most} bytes, and POST /webhook makes one`]
    : ['signature of the webhook: the key is the same, and the form is that of Standard Webhooks'];
};

// Converts webhooks of programs on whatsmeow.

/** Names of events in this gateway, by their names in another program. */
export type EventTable = Readonly<Record<string, string>>;

/** Makes a table in which all listed names have the same counterpart. White space separates the names. */
export const named = (list: string, ours: string): EventTable => Object.fromEntries(list.split(/\s+/).map((name) => [name, ours]));

interface SourceWebhook {
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
