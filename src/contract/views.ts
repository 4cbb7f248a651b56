/** The border vocabulary in one place: records of the gateway in, objects with the interface's spellings out. Pure functions. */
export { chatFields, chatColumns, emptyChat, type ChatField, type FieldType } from './chat-fields.ts';
export { chatIdOf, chatLabelsView, chatView, contactView, fastChatId } from './chat.ts';
export { historyView } from './history.ts';
export { instanceView } from './instance.ts';
export { fullLabelId, labelView } from './label.ts';
export { eventMessageView, fullMessageId, messageView } from './message.ts';
export { timeText } from './time.ts';
export { deliveryErrorView, deliveryPageView, savedWebhooksView, webhookTestView, webhookView } from './webhook.ts';
