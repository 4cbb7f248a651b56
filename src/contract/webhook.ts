/** Webhooks and their delivery errors as the interface spells them. */
import { damageText, type DeliveryError, type Try, type Webhook } from '#actors/model.ts';
import type { ChatwootSettings, DeliveryDetails, DeliveryPage, DeliveryView, SavedWebhooks, WebhookTest } from '#actors/views.ts';
import { isoTime } from './formats.ts';

/** The secret is never shown again, and of headers only their names: what stands here may be sent back unchanged. */
export const webhookView = (webhook: Webhook) => ({
  id: webhook.id,
  enabled: webhook.enabled,
  url: webhook.url,
  events: webhook.events,
  excludeMessages: webhook.excludeMessages,
  addUrlEvents: webhook.addUrlEvents,
  addUrlTypesMessages: webhook.addUrlTypesMessages,
  ...(webhook.secret === '' ? {} : { signed: true }),
  ...(webhook.unreadable === undefined ? {} : { reason: damageText(webhook) }),
  ...(Object.keys(webhook.headers).length === 0 ? {} : { headerNames: Object.keys(webhook.headers) }),
});

/** After a change: with the secret that was made by it. */
export const savedWebhooksView = ({ webhooks, revealed }: SavedWebhooks) =>
  webhooks.map((webhook) => ({ ...webhookView(webhook), ...(webhook.id === revealed ? { secret: webhook.secret } : {}) }));

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
