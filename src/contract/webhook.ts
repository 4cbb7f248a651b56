/** Webhooks and their delivery errors as the interface spells them. */
import { Type } from 'typebox';
import { damageText, type DeliveryError, type Try, type Webhook } from '#actors/model.ts';
import type { ChatwootSettings, DeliveryDetails, DeliveryPage, DeliveryView, SavedWebhooks, WebhookTest } from '#actors/views.ts';
import { fieldsOf } from './fields.ts';
import { optional } from './shapes.ts';
import { isoTime } from './formats.ts';

interface ShownWebhook extends Webhook {
  /** The secret was made by this request. */
  readonly revealed: boolean;
}

const text = Type.String();
const flag = Type.Boolean();

/** A secret is shown once, and of headers only their names are shown. Clients may send all other fields back unchanged. */
const webhook = fieldsOf<ShownWebhook>()({
  id: [text, ({ id }) => id],
  enabled: [flag, ({ enabled }) => enabled],
  url: [text, ({ url }) => url],
  events: [Type.Array(text), ({ events }) => events],
  excludeMessages: [Type.Array(text), ({ excludeMessages }) => excludeMessages],
  addUrlEvents: [flag, ({ addUrlEvents }) => addUrlEvents],
  addUrlTypesMessages: [flag, ({ addUrlTypesMessages }) => addUrlTypesMessages],
  signed: [
    optional(Type.Boolean({ description: 'There only when deliveries are signed' })),
    ({ secret }) => (secret === '' ? undefined : true),
  ],
  reason: [
    optional(Type.String({ description: 'There only when nothing is posted because the stored secret and headers are damaged' })),
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

/** Makes the views of all webhooks after a change, with the secret that the change made. */
export const savedWebhooksView = ({ webhooks, revealed }: SavedWebhooks) =>
  webhooks.map((record) => webhook.view({ ...record, revealed: record.id === revealed }));

/** `status_code` appears only when the receiver gave one. */
export const deliveryErrorView = (failure: DeliveryError) => ({
  created: isoTime(failure.created),
  url: failure.url,
  type: failure.type,
  event: failure.event,
  message_type: failure.messageType,
  ...(failure.statusCode === null ? {} : { status_code: failure.statusCode }),
  attempts: failure.attempts,
  error: failure.error,
  payload: failure.payload,
});

/** `id` is the header `webhook-id`. What is unknown or does not apply is left out. */
const deliveryView = (delivery: DeliveryView, withInstance: boolean) => ({
  id: delivery.eventId,
  webhook: delivery.webhookId,
  ...(withInstance ? { instance: delivery.instanceId } : {}),
  state: delivery.state,
  event: delivery.type,
  message_type: delivery.messageType,
  attempts: delivery.attempts,
  created: isoTime(delivery.at),
  ...(delivery.nextAttempt === 0 ? {} : { next_attempt: isoTime(delivery.nextAttempt) }),
  ...(delivery.endedAt === 0 ? {} : { ended: isoTime(delivery.endedAt) }),
  ...(delivery.status === 0 ? {} : { status_code: delivery.status }),
  ...(delivery.reason === '' ? {} : { reason: delivery.reason }),
});

const tryView = ({ at, ms, status, error, answer }: Try, withAnswer: boolean) => ({
  started: isoTime(at),
  ms,
  ...(status === 0 ? {} : { status_code: status }),
  ...(error === '' ? {} : { error }),
  ...(answer === undefined || !withAnswer ? {} : { answer }),
});

/** The answer of a receiver may come from inside the operator's network, so the holder of an instance token, who chooses the address, gets none. */
export const deliveryDetailsView = (
  delivery: DeliveryDetails,
  { withInstance, withAnswer }: Record<'withInstance' | 'withAnswer', boolean>,
) => ({
  ...deliveryView(delivery, withInstance),
  url: delivery.url,
  headers: delivery.headers,
  payload: delivery.payload,
  tries: (delivery.tries ?? []).map((one) => tryView(one, withAnswer)),
});

export const deliveryPageView = ({ deliveries, more, queues }: DeliveryPage, withInstance: boolean) => ({
  deliveries: deliveries.map((delivery) => deliveryView(delivery, withInstance)),
  hasMore: more,
  queues: queues.map(({ webhookId, ...queue }) => ({ webhook: webhookId, ...queue })),
});

/** Returns the status of an answer without its body, because the body may come from inside the operator's network. */
export const webhookTestView = ({ id, url, outcome, ms }: WebhookTest) => ({
  ok: outcome.ok,
  id,
  url,
  ms,
  ...(outcome.status === undefined ? {} : { status_code: outcome.status }),
  ...(outcome.ok ? {} : { error: outcome.error }),
});

// The settings of the connector to Chatwoot as the interface spells them.

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
