/** Webhooks of programs on whatsmeow in the words of this gateway. */
import type { CarriedWebhook } from '../session.ts';

/** Names of events of a program, in lower case, with ours. An empty list: known, and without a counterpart. */
export type EventTable = Readonly<Record<string, readonly string[]>>;

/** Several names with the same counterpart, separated by white space. */
export const named = (list: string, ours: readonly string[]): EventTable =>
  Object.fromEntries(list.split(/\s+/).map((name) => [name, ours]));

export interface SourceWebhook {
  readonly url: string;
  readonly events: readonly string[];
  /** The key with which the program signs, as text; '' for none. */
  readonly key: string;
}

/** Bytes of a key in the Standard Webhooks specification. */
const [least, most] = [24, 64] as const;

const signature =
  'signature of the webhook: deliveries are signed as in the Standard Webhooks specification, with another header than before';

const secretOf = (key: string): string => {
  const bytes = Buffer.from(key);
  return bytes.length >= least && bytes.length <= most ? `whsec_${bytes.toString('base64')}` : '';
};

const signatureNotes = (key: string, secret: string): readonly string[] => {
  if (key === '') return [];
  return secret === ''
    ? [`signature of the webhook: its key is shorter than ${least} or longer than ${most} bytes; make one with POST /webhook`]
    : [`${signature}; the key is the same`];
};

/** `webhook` null: nothing is left of it. `lost`: see `CarriedSettings`. */
export const carriedWebhook = (
  { url, events, key }: SourceWebhook,
  table: EventTable,
): { readonly webhook: CarriedWebhook | null; readonly lost: readonly string[] } => {
  if (url === '') return { webhook: null, lost: [] };
  const names = events.map((name) => name.trim()).filter((name) => name !== '');
  const ours = [...new Set(names.flatMap((name) => table[name.toLowerCase()] ?? []))];
  const without = names.filter((name) => (table[name.toLowerCase()] ?? []).length === 0);
  const secret = secretOf(key);
  const webhook = {
    url,
    enabled: ours.length > 0,
    events: ours,
    excludeMessages: [],
    addUrlEvents: false,
    addUrlTypesMessages: false,
    secret,
    headers: {},
  };
  const silent = ours.length > 0 ? [] : ['webhook: none of its events has a counterpart; it is switched off'];
  const lost = without.map((name) => `event ${name} of the webhook: there is no such event here`);
  return { webhook, lost: [...lost, ...silent, ...signatureNotes(key, secret)] };
};
