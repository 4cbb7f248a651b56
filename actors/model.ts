/** The vocabulary of the gateway, by resource. The spellings of the interface (`wa_chatid`) live in `src/contract/`. */
export * from './model/instance.ts';
export * from './model/audience.ts';
export * from './model/message.ts';
export * from './model/chat.ts';
export type * from './model/chat-change.ts';
export type * from './model/limits.ts';
export * from './model/privacy.ts';
export * from './model/send.ts';
export type * from './model/send-key.ts';
export * from './model/webhook.ts';
export * from './model/definition.ts';
export * from './model/delivery.ts';
export * from './model/entry.ts';
export * from './model/group.ts';
export type * from './model/person.ts';
export type * from './model/news.ts';
export * from './model/proxy.ts';
export * from './model/result.ts';
