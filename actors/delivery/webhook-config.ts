/** Applies `POST /webhook` to a list of webhooks. The change is a pure function over the rules of that operation. */
import type { WebhookInput } from '../views.ts';
import { done, eventNames, eventTypes, refuse, type InstanceId, type Result, type Webhook } from '../model.ts';

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
 * Replaces all fields. Absent fields take their defaults, except two that keep their values. `enabled` must survive a change of the address. Clients
 * leave out the address when they only switch a webhook off.
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
  // Without an action, an id means an update. Without both, the request changes the managed webhook.
  '': (situation, input) => (input.id === '' ? simple(situation, input) : update(situation, input)),
};

export const changeOf = (situation: Situation, input: WebhookInput): Result<WebhookChange> =>
  (Object.hasOwn(actions, input.action) ? actions[input.action]?.(situation, input) : undefined) ?? refuse('invalid', 'Invalid action');
