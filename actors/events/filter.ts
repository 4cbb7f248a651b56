/** Which webhook wants which event (specification 6.2 rule 3). */
import type { Delivery, GatewayEvent, MessageFilter, Webhook } from '../model.ts';

type Facts = NonNullable<GatewayEvent['message']>;

/** `wasSentByApi` and `fromMe` are different facts: the account also writes on its phone. */
const filters: Readonly<Record<MessageFilter, (message: Facts) => boolean>> = {
  wasSentByApi: (message) => message.wasSentByApi,
  wasNotSentByApi: (message) => !message.wasSentByApi,
  fromMeYes: (message) => message.fromMe,
  fromMeNo: (message) => !message.fromMe,
  isGroupYes: (message) => message.isGroup,
  isGroupNo: (message) => !message.isGroup,
};

/** Names that are no filter never match: old clients send retired ones. */
export const isExcluded = (exclude: readonly string[], message: Facts | null): boolean =>
  message !== null && exclude.some((name) => Object.hasOwn(filters, name) && filters[name as MessageFilter](message));

/** Types that `All` does not mean: channels post much that nobody asked for. */
const onlyByName: ReadonlySet<string> = new Set(['newsletter_messages']);

export const listensTo = (events: readonly string[], type: string): boolean =>
  events.some((name) => name === type || (!onlyByName.has(type) && (name === 'All' || name === 'all')));

export const wants = (webhook: Webhook, event: GatewayEvent): boolean =>
  webhook.enabled && listensTo(webhook.events, event.type) && !isExcluded(webhook.excludeMessages, event.message);

/** What the filters look at, read from a stored body. Receipts and the rest have no such thing (contract/events.md). */
const factsOf = ({ type, body }: Pick<Delivery, 'type' | 'body'>): Facts | null => {
  if (type !== 'messages' && type !== 'newsletter_messages') return null;
  const { message } = JSON.parse(body) as { readonly message?: Partial<Facts> };
  return message ? { fromMe: false, isGroup: false, wasSentByApi: false, ...message } : null;
};

/** The configuration may have changed since the row was made. */
export const stillWants = ({ events, excludeMessages }: Webhook, row: Pick<Delivery, 'type' | 'body'>): boolean =>
  listensTo(events, row.type) && (excludeMessages.length === 0 || !isExcluded(excludeMessages, factsOf(row)));
