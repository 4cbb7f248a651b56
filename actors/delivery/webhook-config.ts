/**
 * The configuration of webhooks: the changes of `POST /webhook`, the rules for secrets and headers, the present webhooks of all instances,
 * and their filters.
 */
import {
  type Delivery,
  done,
  eventNames,
  eventTypes,
  type GatewayEvent,
  type InstanceId,
  listensToUnknown,
  type MessageFilter,
  refuse,
  type Result,
  type Webhook,
} from '../model.ts';
import type { Signer } from '../ports.ts';
import type { WebhookInput } from '../views.ts';

// Applies `POST /webhook` to a list of webhooks. The change is a pure function over the rules of that operation.

export type WebhookChange = { readonly save: Webhook } | { readonly remove: readonly string[] };

interface Situation {
  readonly instanceId: InstanceId | null;
  readonly current: readonly Webhook[];
  readonly newId: string;
  readonly now: number;
}

const fresh = ({ instanceId, newId, now }: Situation, managed: boolean): Webhook => ({
  id: newId,
  instanceId,
  enabled: false,
  url: '',
  events: [],
  excludeMessages: [],
  addUrlEvents: false,
  addUrlTypesMessages: false,
  managed,
  secret: '',
  headers: {},
  created: now,
});

/**
 * Applies the fields of `input` except the secret and the headers. An absent `url`, `enabled` or `events` keeps its value, because clients send
 * `enabled` without a URL, or a new URL without `enabled`. Other absent fields get their defaults.
 */
const fill = (webhook: Webhook, input: WebhookInput): Webhook => ({
  ...webhook,
  url: input.url === '' ? webhook.url : input.url,
  enabled: input.enabled ?? webhook.enabled,
  events: input.events ?? webhook.events,
  excludeMessages: input.excludeMessages ?? [],
  addUrlEvents: input.addUrlEvents ?? false,
  addUrlTypesMessages: input.addUrlTypesMessages ?? false,
});

const checked = (webhook: Webhook): Result<WebhookChange> => {
  if (webhook.url === '') return refuse('invalid', 'url is required');
  if (webhook.events.some((name) => eventNames.includes(name)) || (!webhook.enabled && webhook.events.length === 0))
    return done({ save: webhook });
  return refuse(
    'invalid',
    webhook.events.length === 0
      ? 'events is required'
      : `events contains no known event type; known types: ${['all', ...eventTypes].join(', ')}`,
  );
};

const simple = (situation: Situation, input: WebhookInput): Result<WebhookChange> => {
  const managed = situation.current.find((webhook) => webhook.managed);
  return checked(fill(managed ?? fresh(situation, true), input));
};

const update = ({ current }: Situation, input: WebhookInput): Result<WebhookChange> => {
  const webhook = current.find(({ id }) => id === input.id);
  return webhook ? checked(fill(webhook, input)) : refuse('notFound', 'Webhook not found');
};

/** Removes webhooks by id, or by address as some clients do. A repeated removal is no failure. */
const remove = ({ current }: Situation, { id, url }: WebhookInput): Result<WebhookChange> => {
  if (id === '' && url === '') return refuse('invalid', 'id is required');
  const hit = current.filter((webhook) => (id === '' ? webhook.url === url : webhook.id === id));
  return done({ remove: hit.map((webhook) => webhook.id) });
};

const actions: Readonly<Record<string, (situation: Situation, input: WebhookInput) => Result<WebhookChange>>> = {
  add: (situation, input) =>
    input.id === '' ? checked(fill(fresh(situation, false), input)) : refuse('invalid', 'id must not be sent when a webhook is added'),
  update,
  delete: remove,
  // Without an action, an id means an update. Without an action and an id, the request changes the managed webhook.
  '': (situation, input) => (input.id === '' ? simple(situation, input) : update(situation, input)),
};

export const changeOf = (situation: Situation, input: WebhookInput): Result<WebhookChange> =>
  (Object.hasOwn(actions, input.action) ? actions[input.action]?.(situation, input) : undefined) ?? refuse('invalid', 'Invalid action');

// The rules for the secret and the headers of a webhook, as a pure function.

type Private = Pick<Webhook, 'secret' | 'headers'>;

/** Headers that the gateway writes, or that belong to the connection. */
const taken = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const limits = { headers: 20, characters: 4096 };

/** Returns the reason why the headers are invalid, or null. The text never quotes a value. */
const objectionOf = (headers: Readonly<Record<string, string>>): string | null => {
  const all = Object.entries(headers);
  if (all.length > limits.headers) return `headers must have at most ${limits.headers} entries`;
  if (all.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > limits.characters)
    return `headers must have at most ${limits.characters} characters in total`;
  if (new Set(all.map(([name]) => name.toLowerCase())).size < all.length) return 'headers must not name a header twice';
  for (const [name, value] of all) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(name)) return 'headers has an invalid header name';
    if (taken.has(name.toLowerCase()) || name.toLowerCase().startsWith('webhook-')) return `headers must not contain ${name}`;
    if (!/^[\t\x20-\x7e]*$/.test(value)) return `headers.${name} must be printable ASCII on one line`;
  }
  return null;
};

/** Returns the new secret and headers. Absent fields keep their values. An empty secret or an empty set of headers removes the stored value. */
export function privateOf(before: Private, input: WebhookInput, signer: Signer): Result<Private> {
  const { secret, headers = before.headers } = input;
  const objection = objectionOf(headers) ?? (typeof secret === 'string' && secret !== '' ? signer.objection(secret) : null);
  if (objection !== null) return refuse('invalid', objection);
  return done({ headers, secret: secret === true ? signer.make() : (secret ?? before.secret) });
}

// The current configuration of all webhooks. The cost of a look-up by id or by owner does not grow with the number of webhooks.

type Owner = InstanceId | null;

export class WebhookRegistry {
  readonly #byId = new Map<string, Webhook>();
  /** Ids in the order of creation. */
  readonly #byOwner = new Map<Owner, string[]>();
  /** Ids by the last segment of the address to which Chatwoot posts. */
  readonly #byHook = new Map<string, string>();

  get(id: string): Webhook | null {
    return this.#byId.get(id) ?? null;
  }

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  /** Returns the webhooks of one instance, or the global webhooks if `owner` is null. */
  own(owner: Owner): readonly Webhook[] {
    return (this.#byOwner.get(owner) ?? []).map((id) => this.#byId.get(id)).filter((webhook) => webhook !== undefined);
  }

  /** Returns the webhooks that post to receivers. Only these are called webhooks in the API. */
  receivers(owner: Owner): readonly Webhook[] {
    return this.own(owner).filter(({ chatwoot }) => chatwoot === undefined);
  }

  /** Returns the webhook that delivers to Chatwoot, or null. */
  chatwoot(owner: InstanceId): Webhook | null {
    return this.own(owner).find(({ chatwoot }) => chatwoot !== undefined) ?? null;
  }

  /** Returns the webhook of the address to which Chatwoot posted, or null. `hook`: the last segment of that address. */
  hooked(hook: string): Webhook | null {
    return this.get(this.#byHook.get(hook) ?? '');
  }

  /** Returns the instances that are connected to an inbox of Chatwoot, even if the connector is switched off. */
  connected(): readonly InstanceId[] {
    return [...this.#byHook.values()].map((id) => this.get(id)?.instanceId ?? null).filter((id) => id !== null);
  }

  /** Returns the webhooks that may get events of an instance: its own webhooks, and the global webhook. */
  receiving(id: InstanceId): readonly Webhook[] {
    return [...this.own(id), ...this.own(null)];
  }

  set(webhook: Webhook): void {
    if (!this.#byId.has(webhook.id)) this.#byOwner.set(webhook.instanceId, [...(this.#byOwner.get(webhook.instanceId) ?? []), webhook.id]);
    this.#byId.set(webhook.id, webhook);
    if (webhook.chatwoot) this.#byHook.set(webhook.chatwoot.hook, webhook.id);
  }

  /** Removes a webhook and returns it. */
  remove(id: string): Webhook | null {
    const webhook = this.get(id);
    if (!webhook) return null;
    this.#byId.delete(id);
    if (webhook.chatwoot) this.#byHook.delete(webhook.chatwoot.hook);
    const left = (this.#byOwner.get(webhook.instanceId) ?? []).filter((other) => other !== id);
    if (left.length > 0) this.#byOwner.set(webhook.instanceId, left);
    else this.#byOwner.delete(webhook.instanceId);
    return webhook;
  }
}

// The rules that decide which webhook gets which event (see `POST /webhook`).

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

/** Returns true if a filter matches. Unknown names never match, because old clients send retired names. */
export const isExcluded = (exclude: readonly string[], message: Facts | null): boolean =>
  message !== null && exclude.some((name) => Object.hasOwn(filters, name) && filters[name as MessageFilter](message));

/** Types that a webhook must name. `all` does not include them, because channels post many unwanted messages. */
const onlyByName: ReadonlySet<string> = new Set(['newsletter_messages']);

export const listensTo = (events: readonly string[], type: string): boolean =>
  events.some((name) => name === type || (!onlyByName.has(type) && (name === 'All' || name === 'all')));

export const wants = (webhook: Webhook, event: GatewayEvent): boolean =>
  webhook.enabled &&
  (listensToUnknown(webhook) || listensTo(webhook.events, event.type)) &&
  !isExcluded(webhook.excludeMessages, event.message);

/** Returns the facts for the filters from a stored body. Only messages have such facts. */
const factsOf = ({ type, body }: Pick<Delivery, 'type' | 'body'>): Facts | null => {
  if (type !== 'messages' && type !== 'newsletter_messages') return null;
  const { message } = JSON.parse(body) as { readonly message?: Partial<Facts> };
  return message ? { fromMe: false, isGroup: false, wasSentByApi: false, ...message } : null;
};

/** Returns true if the webhook still wants the row. The configuration may have changed since the row was made. */
export const stillWants = ({ events, excludeMessages }: Webhook, row: Pick<Delivery, 'type' | 'body'>): boolean =>
  listensTo(events, row.type) && (excludeMessages.length === 0 || !isExcluded(excludeMessages, factsOf(row)));
