/** Routes of the connector to Chatwoot. */
import type { Static } from 'typebox';
import type { ChatwootSettings } from '#actors/gateway.ts';
import { chatwootView } from '#src/contract/views.ts';
import { done, mapResult, type Route, route } from '../route.ts';
import * as shape from '../schemas/webhook.ts';

const settingsOf = (body: Static<typeof shape.ChatwootBody>): ChatwootSettings => ({
  enabled: body.enabled,
  url: body.url,
  accessToken: body.access_token,
  accountId: body.account_id,
  inboxId: body.inbox_id,
  ignoreGroups: body.ignore_groups ?? false,
  signMessages: body.sign_messages ?? false,
  newConversations: body.create_new_conversation ?? false,
});

const common = { credential: 'instance', tag: 'chatwoot' } as const;

export const chatwootRoutes: readonly Route[] = [
  route({
    on: ['GET /chatwoot/config'],
    operationId: 'getChatwoot',
    ...common,
    summary: 'Show the inbox of Chatwoot with which the instance is connected',
    answer: shape.ChatwootSettings,
    run: ({ gateway, id }) => done(chatwootView(gateway.chatwoot(id))),
  }),
  route({
    on: ['PUT /chatwoot/config'],
    operationId: 'saveChatwoot',
    ...common,
    summary: 'Connect the instance with an inbox of Chatwoot, which is tried first, or disconnect it',
    body: shape.ChatwootBody,
    answer: shape.ChatwootSaved,
    refusals: { invalid: { example: 'Chatwoot does not take the access token' } },
    run: async ({ gateway, id, body }) => {
      const saved = await gateway.saveChatwoot(id, settingsOf(body));
      return mapResult(saved, ({ hookUrl }) => ({ message: 'Chatwoot settings saved', chatwoot_inbox_webhook_url: hookUrl }));
    },
  }),
  route({
    on: ['POST /chatwoot/test'],
    operationId: 'testChatwoot',
    ...common,
    summary: 'Ask Chatwoot for the inbox of these settings at once and tell the outcome; nothing is saved',
    body: shape.ChatwootBody,
    answer: shape.ChatwootTested,
    refusals: { invalid: { example: 'access_token is required for another url' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.testChatwoot(id, settingsOf(body)), ({ error, ms }) => ({
        ok: error === '',
        ms,
        ...(error === '' ? {} : { error }),
      })),
  }),
  route({
    on: ['POST /chatwoot/webhook/:hook'],
    operationId: 'takeChatwootEvent',
    credential: 'none',
    tag: 'chatwoot',
    summary: 'Receive a message of the inbox of Chatwoot. It is stored before the answer and sent afterwards',
    params: shape.HookParams,
    body: shape.HookBody,
    answer: shape.HookAnswer,
    refusals: {
      notFound: { example: 'no instance has this address' },
      conflict: { example: 'the connector of this instance is switched off' },
      limited: { example: 'too many messages of agents wait to be sent' },
      unavailable: {},
    },
    run: async ({ gateway, params, body }) => mapResult(await gateway.chatwootPosted(params.hook, body), () => ({ message: 'accepted' })),
  }),
];
