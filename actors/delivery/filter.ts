/** The rules that decide which webhook gets which event (see `POST /webhook`). */
import type { Delivery, GatewayEvent, MessageFilter, Webhook } from '../model.ts';

type Facts = NonNullable<GatewayEvent['message']>;

/** `wasSentByApi` differs from `fromMe`, because the account also writes on its phone. */
const filters: Readonly<Record<MessageFilter, (message: Facts) => boolean>> = {
  wasSentByApi: (message) => message.wasSentByApi,
  wasNotSentByApi: (message) => !message.wasSentByApi,
  fromMeYes: (message) => message.fromMe,
  fromMeNo: (message) => !message.fromMe,
  isGroupYes: (message) => message.isGroup,
  isGroupNo: (message) => !message.isGroup,
};

/** Returns true if a filter matches. Unknown names never match, because old clients send retired ones. */
export const isExcluded = (exclude: readonly string[], message: Facts | null): boolean =>
  message !== null && exclude.some((name) => Object.hasOwn(filters, name) && filters[name as MessageFilter](message));

/** Types that `All` does not include, because channels post many unwanted messages. */
const onlyByName: ReadonlySet<string> = new Set(['newsletter_messages']);

export const listensTo = (events: readonly string[], type: string): boolean =>
  events.some((name) => name === type || (!onlyByName.has(type) && (name === 'All' || name === 'all')));

export const wants = (webhook: Webhook, event: GatewayEvent): boolean =>
  webhook.enabled && listensTo(webhook.events, event.type) && !isExcluded(webhook.excludeMessages, event.message);

/** Returns the facts for the filters from a stored body. Only messages have such facts. */
const factsOf = ({ type, body }: Pick<Delivery, 'type' | 'body'>): Facts | null => {
  if (type !== 'messages' && type !== 'newsletter_messages') return null;
  const { message } = JSON.parse(body) as { readonly message?: Partial<Facts> };
  return message ? { fromMe: false, isGroup: false, wasSentByApi: false, ...message } : null;
};

/** Returns true if the webhook still wants the row. The configuration may have changed since the row was made. */
export const stillWants = ({ events, excludeMessages }: Webhook, row: Pick<Delivery, 'type' | 'body'>): boolean =>
  listensTo(events, row.type) && (excludeMessages.length === 0 || !isExcluded(excludeMessages, factsOf(row)));
