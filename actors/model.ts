/** The vocabulary of the gateway, by resource. The spellings of the interface (`wa_chatid`) live in `src/contract/`. */
export * from './model/instance.ts';
export * from './model/send.ts';
export * from './model/message.ts';
export * from './model/campaign.ts';
export * from './model/chat.ts';
export * from './model/chatbot.ts';
export * from './model/chatwoot.ts';
export * from './model/business.ts';
export * from './model/people.ts';
export * from './model/result.ts';
export * from './model/operator.ts';
export * from './model/channel.ts';
export * from './model/entry.ts';
export * from './model/webhook.ts';
export type * from './model/news.ts';
