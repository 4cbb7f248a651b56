/** The API representation of webhooks and their delivery errors. */
import { Type } from 'typebox';
import { damageText, type DeliveryError, type Try, type Webhook } from '#actors/model.ts';
import type { ChatwootSettings, DeliveryDetails, DeliveryPage, DeliveryView, SavedWebhooks, WebhookTest } from '#actors/views.ts';
import { fieldsOf } from './fields.ts';
import { OneOf, optional } from './shapes.ts';
import { isoTime } from './formats.ts';

interface ShownWebhook extends Webhook {
  /** True if this request generated the secret, which is then shown once. */
  readonly revealed: boolean;
}

const text = Type.String();
const flag = Type.Boolean();

/** A secret is shown once, and headers are shown by name only. Clients may send all other fields back unchanged. */
const webhook = fieldsOf<ShownWebhook>()({
  id: [text, ({ id }) => id],
  enabled: [flag, ({ enabled }) => enabled],
  url: [text, ({ url }) => url],
  events: [Type.Array(text), ({ events }) => events],
  excludeMessages: [Type.Array(text), ({ excludeMessages }) => excludeMessages],
  addUrlEvents: [flag, ({ addUrlEvents }) => addUrlEvents],
  addUrlTypesMessages: [flag, ({ addUrlTypesMessages }) => addUrlTypesMessages],
  signed: [
    optional(Type.Boolean({ description: 'Present only if deliveries are signed' })),
    ({ secret }) => (secret === '' ? undefined : true),
  ],
  reason: [
    optional(Type.String({ description: 'Present only if nothing is posted because the stored secret and headers are damaged' })),
    (shown) => (shown.unreadable === undefined ? undefined : damageText(shown)),
  ],
  headerNames: [
    optional(Type.Array(text, { description: 'Names of the headers of its own; their values are not shown' })),
    ({ headers }) => (Object.keys(headers).length === 0 ? undefined : Object.keys(headers)),
  ],
  secret: [
    optional(Type.String({ description: 'Only in the answer to the request that made it' })),
    ({ secret, revealed }) => (revealed ? secret : undefined),
  ],
});

export const webhookFields = webhook.schemas;

export const webhookView = (record: Webhook) => webhook.view({ ...record, revealed: false });

/** Makes the views of all webhooks after a change, with the secret that the change generated. */
export const savedWebhooksView = ({ webhooks, revealed }: SavedWebhooks) =>
  webhooks.map((record) => webhook.view({ ...record, revealed: record.id === revealed }));

const whole = Type.Integer();
const maybeText = optional(text);
const code = optional(Type.Integer({ description: 'Status code of the receiver; absent if it gave none', examples: [502] }));
const posted = (description: string) => Type.Unsafe<unknown>({ type: 'object', additionalProperties: true, description });

/** Returns the value; undefined if it equals `none`, which marks a missing value. */
const unless = <T>(value: T, none: T): T | undefined => (value === none ? undefined : value);
const timeUnless0 = (time: number): string | undefined => (time === 0 ? undefined : isoTime(time));

const deliveryError = fieldsOf<DeliveryError>()({
  created: [text, ({ created }) => isoTime(created)],
  url: [text, ({ url }) => url],
  type: [OneOf(['local', 'global']), ({ type }) => type],
  event: [text, ({ event }) => event],
  message_type: [text, ({ messageType }) => messageType],
  status_code: [code, ({ statusCode }) => statusCode ?? undefined],
  attempts: [whole, ({ attempts }) => attempts],
  error: [text, ({ error }) => error],
  payload: [posted('The body that was posted'), ({ payload }) => payload],
});

export const { schemas: deliveryErrorFields, view: deliveryErrorView } = deliveryError;

/** The fields of a delivery. `id` is the value of the header `webhook-id`. Fields that are unknown or do not apply are absent. */
const delivery = fieldsOf<DeliveryView & { readonly withInstance: boolean }>()({
  id: [text, ({ eventId }) => eventId],
  webhook: [text, ({ webhookId }) => webhookId],
  instance: [
    optional(Type.String({ description: 'Instance; only for the global webhook' })),
    ({ instanceId, withInstance }) => (withInstance ? instanceId : undefined),
  ],
  state: [text, ({ state }) => state],
  event: [text, ({ type }) => type],
  message_type: [text, ({ messageType }) => messageType],
  attempts: [whole, ({ attempts }) => attempts],
  created: [text, ({ at }) => isoTime(at)],
  next_attempt: [maybeText, ({ nextAttempt }) => timeUnless0(nextAttempt)],
  ended: [maybeText, ({ endedAt }) => timeUnless0(endedAt)],
  status_code: [optional(whole), ({ status }) => unless(status, 0)],
  reason: [maybeText, ({ reason }) => unless(reason, '')],
});

export const deliveryFields = delivery.schemas;

/**
 * The fields of an attempt. The holder of an instance token does not get the answer of the receiver. This holder chooses the address, so the answer may come
 * from inside the operator's network.
 */
const attempt = fieldsOf<Try & { readonly withAnswer: boolean }>()({
  started: [text, ({ at }) => isoTime(at)],
  ms: [Type.Integer({ description: 'Milliseconds until the answer' }), ({ ms }) => ms],
  status_code: [code, ({ status }) => unless(status, 0)],
  error: [maybeText, ({ error }) => unless(error, '')],
  answer: [
    optional(Type.String({ description: 'The first 1000 bytes of the last refusal. The token of an instance does not get it' })),
    ({ answer, withAnswer }) => (withAnswer ? answer : undefined),
  ],
});

const details = fieldsOf<DeliveryDetails & Record<'withInstance' | 'withAnswer', boolean>>()({
  ...delivery.rows,
  url: [text, ({ url }) => url],
  headers: [Type.Record(text, text, { description: 'By the present settings; `***` stands for secret values' }), ({ headers }) => headers],
  payload: [posted('The body, with `***` for the token'), ({ payload }) => payload],
  tries: [
    Type.Array(Type.Object(attempt.schemas), { description: 'The last 12 attempts, also those before a replay' }),
    ({ tries, withAnswer }) => (tries ?? []).map((one) => attempt.view({ ...one, withAnswer })),
  ],
});

export const deliveryDetailsFields = details.schemas;

export const deliveryDetailsView = (found: DeliveryDetails, shown: Record<'withInstance' | 'withAnswer', boolean>) =>
  details.view({ ...found, ...shown });

export const deliveryPageView = ({ deliveries, more, queues }: DeliveryPage, withInstance: boolean) => ({
  deliveries: deliveries.map((one) => delivery.view({ ...one, withInstance })),
  hasMore: more,
  queues: queues.map(({ webhookId, ...queue }) => ({ webhook: webhookId, ...queue })),
});

/** Makes the view of a test, with the status of the answer. Leaves the body out, because the body may come from inside the operator's network. */
export const webhookTestView = ({ id, url, outcome, ms }: WebhookTest) => ({
  ok: outcome.ok,
  id,
  url,
  ms,
  ...(outcome.status === undefined ? {} : { status_code: outcome.status }),
  ...(outcome.ok ? {} : { error: outcome.error }),
});

// The API representation of the settings of the Chatwoot connector.

const unset: ChatwootSettings = {
  enabled: false,
  url: '',
  accountId: 0,
  inboxId: 0,
  accessToken: '',
  ignoreGroups: false,
  signMessages: false,
  newConversations: false,
};

export const chatwootView = (settings: ChatwootSettings | null) => {
  const { enabled, url, accountId, inboxId, accessToken, ignoreGroups, signMessages, newConversations } = settings ?? unset;
  return {
    chatwoot_enabled: enabled,
    chatwoot_url: url,
    chatwoot_account_id: accountId,
    chatwoot_inbox_id: inboxId,
    chatwoot_access_token: accessToken,
    chatwoot_ignore_groups: ignoreGroups,
    chatwoot_sign_messages: signMessages,
    chatwoot_create_new_conversation: newConversations,
  };
};
