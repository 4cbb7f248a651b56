/** Routes of the chatbot and of the connector to Chatwoot. */
import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import type { ChatwootSettings, InstancePatch } from '#actors/gateway.ts';
import { agentChange, agentView, chatwootView, givenKey, instanceView, triggerChange, triggerView } from '#src/contract/views.ts';
import { answered, done, mapResult, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/chatbot.ts';
import { ref } from '../schemas/common.ts';
import { InstanceAnswer } from '../schemas/instance.ts';
import * as webhookShape from '../schemas/webhook.ts';

// The chatbot: its settings, its agents and its triggers.

const common = { credential: 'instance', tag: 'chatbot' } as const;

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields that have a value. */
const given = <T extends object>(all: T): Given<T> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Given<T>;

const settingsOf = (body: Static<typeof shape.ChatbotSettingsBody>): InstancePatch =>
  given({
    aiApikey: givenKey(body.ai_apikey ?? body.openai_apikey),
    chatbotEnabled: body.chatbot_enabled,
    chatbotIgnoreGroups: body.chatbot_ignoreGroups,
    chatbotStopConversation: body.chatbot_stopConversation?.trim(),
    chatbotStopMinutes: body.chatbot_stopMinutes,
    chatbotStopWhenYouSendMsg: body.chatbot_stopWhenYouSendMsg,
  });

export const chatbotRoutes: readonly Route[] = [
  route({
    on: ['POST /instance/updatechatbotsettings'],
    operationId: 'updateChatbotSettings',
    ...common,
    summary: 'Turn the chatbot on or off and set when it pauses. Absent fields stay unchanged',
    body: shape.ChatbotSettingsBody,
    examples: { body: { chatbot_enabled: true, chatbot_stopConversation: 'stop', chatbot_stopMinutes: 60 } },
    answer: InstanceAnswer,
    refusals: { invalid: { example: 'ai_apikey has characters that no key has' }, notFound: { example: 'instance not found' } },
    run: async ({ gateway, now, id, body }) => mapResult(await gateway.update(id, settingsOf(body)), (view) => instanceView(view, now)),
  }),
  route({
    on: ['GET /agent/list'],
    operationId: 'listAgents',
    ...common,
    summary: 'List the agents of the chatbot; their keys are not shown',
    answer: shape.AgentsAnswer,
    run: async ({ gateway, id }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      return done((await gateway.agents(id)).map(({ agent, hasKey }) => agentView(agent, hasKey, owner)));
    },
  }),
  route({
    on: ['POST /agent/edit'],
    operationId: 'editAgent',
    ...common,
    summary: 'Make, change or delete an agent with its model, instructions, memory and tools',
    body: shape.EditAgentBody,
    examples: {
      body: {
        agent: {
          name: 'Ada',
          provider: 'openai',
          model: 'gpt-5-mini',
          apikey: 'the-key-of-the-service',
          basePrompt: 'You help the customers of a flower shop. Answer in two sentences at most.',
        },
      },
    },
    answer: ref(shape.ChatbotAgent),
    also: { 201: ref(shape.ChatbotAgent) },
    refusals: {
      invalid: { example: 'model is required' },
      notFound: { example: 'Agent not found' },
      limited: { example: 'an instance has at most 1000 agents' },
    },
    run: async ({ gateway, id, body }) => {
      const { id: agentId = '', delete: gone = false, agent = {} } = body;
      const key = givenKey(agent.apikey);
      const edit = { id: String(agentId).trim(), delete: gone, fields: agentChange(agent), ...(key === undefined ? {} : { key }) };
      const edited = await gateway.editAgent(id, edit);
      if (!edited.ok) return edited;
      const view = agentView(edited.value.agent, edited.value.hasKey, gateway.view(id)?.record.owner ?? '');
      return edited.value.made ? answered(201, view) : done(view);
    },
  }),
  route({
    on: ['POST /agent/try'],
    operationId: 'tryAgent',
    ...common,
    summary: 'Ask an agent in a conversation that no contact sees: nothing is sent or stored, and no tool runs',
    body: shape.TryAgentBody,
    examples: { body: { agent_id: 'r1a2b3c4d5e6f70', messages: [{ role: 'user', text: 'When do you open?' }] } },
    answer: shape.TryAgentAnswer,
    refusals: {
      invalid: { example: 'the last of messages must be of the user' },
      notFound: { example: 'Agent not found' },
      limited: { example: 'another trial of this instance is under way' },
    },
    run: async ({ gateway, id, body: { agent_id: agentId, messages }, reply }) => {
      if (messages.at(-1)?.role !== 'user') return refuse('invalid', 'the last of messages must be of the user');
      const dialogue = messages.map(({ role, text }) => ({ by: role, text }));
      const key = randomUUID();
      let isAnswered = false;
      // If the client disconnects, the trial ends, because the instance accepts no other trial before the end of this one.
      reply.raw.once('close', () => {
        if (!isAnswered) void gateway.endTrial(id, key).catch(() => undefined);
      });
      const tried = await gateway.tryAgent(id, { key, agentId: String(agentId).trim(), dialogue }).finally(() => (isAnswered = true));
      return mapResult(tried, ({ error, ...answer }) => ({
        ok: error === '',
        ...answer,
        ...(error === '' ? {} : { error }),
      }));
    },
  }),
  route({
    on: ['GET /agent/usage'],
    operationId: 'getAgentUsage',
    ...common,
    summary: 'Tell how many tokens the agents used on each day of the last month',
    answer: shape.UsageAnswer,
    run: async ({ gateway, id }) => done(await gateway.chatbotUsage(id)),
  }),
  route({
    on: ['GET /trigger/list'],
    operationId: 'listTriggers',
    ...common,
    summary: 'List the triggers of the chatbot',
    answer: shape.TriggersAnswer,
    run: async ({ gateway, id }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      return done((await gateway.triggers(id)).map((trigger) => triggerView(trigger, owner)));
    },
  }),
  route({
    on: ['POST /trigger/edit'],
    operationId: 'editTrigger',
    ...common,
    summary: 'Make, change or delete a trigger, which starts an agent or a quick reply for some texts, chats or leads',
    body: shape.EditTriggerBody,
    examples: { body: { trigger: { type: 'agent', agent_id: 'r1a2b3c4d5e6f70', wordsToStart: 'hello|good morning' } } },
    answer: ref(shape.ChatbotTrigger),
    also: { 201: ref(shape.ChatbotTrigger) },
    refusals: {
      invalid: { example: 'there is no agent r1a2b3c4d5e6f70' },
      notFound: { example: 'Trigger not found' },
      limited: { example: 'an instance has at most 1000 triggers' },
    },
    run: async ({ gateway, id, body }) => {
      const { id: triggerId = '', delete: gone = false, trigger = {} } = body;
      if (trigger.type === 'flow') return refuse('invalid', 'there are no flows: type is agent or quickreply');
      const edited = await gateway.editTrigger(id, { id: String(triggerId).trim(), delete: gone, fields: triggerChange(trigger) });
      if (!edited.ok) return edited;
      const view = triggerView(edited.value.trigger, gateway.view(id)?.record.owner ?? '');
      return edited.value.made ? answered(201, view) : done(view);
    },
  }),
];

// Routes of the connector to Chatwoot.

const connectorSettingsOf = (body: Static<typeof webhookShape.ChatwootBody>): ChatwootSettings => ({
  enabled: body.enabled,
  url: body.url,
  accessToken: body.access_token,
  accountId: body.account_id,
  inboxId: body.inbox_id,
  ignoreGroups: body.ignore_groups ?? false,
  signMessages: body.sign_messages ?? false,
  newConversations: body.create_new_conversation ?? false,
});

const chatwootCommon = { credential: 'instance', tag: 'chatwoot' } as const;

export const chatwootRoutes: readonly Route[] = [
  route({
    on: ['GET /chatwoot/config'],
    operationId: 'getChatwoot',
    ...chatwootCommon,
    summary: 'Show the inbox of Chatwoot with which the instance is connected',
    answer: webhookShape.ChatwootSettings,
    run: ({ gateway, id }) => done(chatwootView(gateway.chatwoot(id))),
  }),
  route({
    on: ['PUT /chatwoot/config'],
    operationId: 'saveChatwoot',
    ...chatwootCommon,
    summary: 'Connect the instance with an inbox of Chatwoot, which is tried first, or disconnect it',
    body: webhookShape.ChatwootBody,
    answer: webhookShape.ChatwootSaved,
    refusals: { invalid: { example: 'Chatwoot does not take the access token' } },
    run: async ({ gateway, id, body }) => {
      const saved = await gateway.saveChatwoot(id, connectorSettingsOf(body));
      return mapResult(saved, ({ hookUrl }) => ({ message: 'Chatwoot settings saved', chatwoot_inbox_webhook_url: hookUrl }));
    },
  }),
  route({
    on: ['POST /chatwoot/test'],
    operationId: 'testChatwoot',
    ...chatwootCommon,
    summary: 'Ask Chatwoot for the inbox of these settings at once and tell the outcome; nothing is saved',
    body: webhookShape.ChatwootBody,
    answer: webhookShape.ChatwootTested,
    refusals: { invalid: { example: 'access_token is required for another url' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.testChatwoot(id, connectorSettingsOf(body)), ({ error, ms }) => ({
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
    params: webhookShape.HookParams,
    body: webhookShape.HookBody,
    // This route has no credential, so the limit is small. An event of Chatwoot contains the text of a message twice, but only the addresses of files.
    bodyLimit: { bytes: 262_144 },
    answer: webhookShape.HookAnswer,
    refusals: {
      notFound: { example: 'no instance has this address' },
      conflict: { example: 'the connector of this instance is switched off' },
      limited: { example: 'too many messages of agents wait to be sent' },
      unavailable: {},
    },
    run: async ({ gateway, params, body }) => mapResult(await gateway.chatwootPosted(params.hook, body), () => ({ message: 'accepted' })),
  }),
];
