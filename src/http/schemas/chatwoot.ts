/** Shapes of the connector to Chatwoot. */
import { Type } from 'typebox';
import { Count, Flag, FreeObject, optional } from './common.ts';

const most = Number.MAX_SAFE_INTEGER;

const token = {
  description: 'Access token of an agent or administrator; answers show *** in its place, which sent back keeps the stored one',
  examples: ['pXXGHHHyJPYHYgWHJHYHgJjj'],
};

export const ChatwootSettings = Type.Object({
  chatwoot_enabled: Flag('Messages become messages in the inbox'),
  chatwoot_url: Type.String({ examples: ['https://app.chatwoot.com'] }),
  chatwoot_account_id: Type.Integer({ examples: [1] }),
  chatwoot_inbox_id: Type.Integer({ examples: [5] }),
  chatwoot_access_token: Type.String({ ...token, examples: ['***'] }),
  chatwoot_ignore_groups: Type.Boolean(),
  chatwoot_sign_messages: Type.Boolean(),
  chatwoot_create_new_conversation: Type.Boolean(),
});

export const ChatwootBody = Type.Object({
  enabled: Flag('Messages become messages in the inbox'),
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Address of the server, http or https',
    examples: ['https://app.chatwoot.com'],
  }),
  access_token: Type.String({ minLength: 1, maxLength: 500, ...token }),
  account_id: Count(1, most, 'The number in the addresses of the dashboard of Chatwoot'),
  inbox_id: Count(1, most, 'An inbox of the type API'),
  ignore_groups: optional(Flag('Messages of groups stay out')),
  sign_messages: optional(Flag('What agents write begins with their name')),
  create_new_conversation: optional(
    Flag('After a conversation was resolved the next message begins a new one, instead of opening it again'),
  ),
});

export const ChatwootSaved = Type.Object({
  message: Type.String({ examples: ['Chatwoot settings saved'] }),
  chatwoot_inbox_webhook_url: Type.String({
    description: 'To be entered as the webhook of the inbox; everybody who knows it can write in the name of the instance',
    examples: ['https://api.example.com/chatwoot/webhook/yIDBe3RNJyRhqZ0vRkIqKcs0KNSWvW4r'],
  }),
});

export const HookParams = Type.Object({
  hook: Type.String({
    maxLength: 64,
    description: 'The end of the address that PUT /chatwoot/config answered',
    examples: ['yIDBe3RNJyRhqZ0vRkIqKcs0KNSWvW4r'],
  }),
});

export const HookBody = FreeObject('An event of Chatwoot, such as message_created');

export const HookAnswer = Type.Object({ message: Type.String({ examples: ['accepted'] }) });
