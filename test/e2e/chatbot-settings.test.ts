/** Tests settings, agents and triggers of the chatbot: creation, changes, lists and deletion. No answer, log or row shows a key. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { Account } from '#test/support/account.ts';
import { GatewayProcess } from '#test/support/gateway.ts';

const secret = 'sk-verysecret0123456789';
const gateway = new GatewayProcess({ platformUrl: 'ws://127.0.0.1:9/ws/chat' });
let account: Account;

before(async () => {
  await gateway.start();
  account = await Account.create(gateway, '5511988880001');
});
after(() => gateway.close());

const agent = {
  name: ' Ada ',
  provider: 'custom',
  baseUrl: 'http://127.0.0.1:9/v1/',
  model: 'small',
  apikey: secret,
  basePrompt: 'You sell flowers.',
};

const edit = async (what: 'agent' | 'trigger', body: Json): Promise<{ readonly status: number; readonly body: Json }> => {
  const { status, body: answered } = await account.call('POST', `/${what}/edit`, body);
  return { status, body: answered };
};
const listed = async (what: 'agent' | 'trigger'): Promise<readonly Json[]> =>
  (await account.call('GET', `/${what}/list`)).body as unknown as readonly Json[];

let agentId = '';

test('agents: one is created with defaults, listed, and changed field by field, and its key is never shown', async () => {
  const made = await edit('agent', { agent });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  agentId = String(made.body['id']);
  const usual = {
    name: 'Ada',
    baseUrl: 'http://127.0.0.1:9/v1',
    apikey: '********',
    contextMaxMessages: 20,
    temperature: null,
    tools: [],
    media: [],
  };
  assert.deepEqual(picked(made.body, usual), usual);
  const media = [{ name: 'catalogue', description: '', type: 'document', file: 'https://example.com/catalogue.pdf' }];
  const changed = await edit('agent', {
    id: agentId,
    agent: { temperature: '30', tools: ['handOver', 'handOver'], media, apikey: '********' },
  });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const fields = { name: 'Ada', temperature: 30, tools: ['handOver'], media, apikey: '********' };
  assert.deepEqual(picked(changed.body, fields), fields);
  assert.deepEqual(await listed('agent'), [changed.body]);
});

test('agents: a stored key is sent to no other server, and another origin needs a new key', async () => {
  const made = (await edit('agent', { agent: { ...agent, name: 'Eve' } })).body;
  const id = String(made['id']);
  const refused = { status: 400, body: { error: 'apikey is required for another provider or baseUrl' } };
  for (const change of [{ baseUrl: 'http://127.0.0.1:10/v1' }, { baseUrl: 'https://127.0.0.1:9/v1' }, { provider: 'openai', baseUrl: '' }])
    for (const mask of [{}, { apikey: '********' }])
      assert.deepEqual(await edit('agent', { id, agent: { ...change, ...mask } }), refused, JSON.stringify(change));
  assert.equal((await edit('agent', { id, agent: { baseUrl: 'http://127.0.0.1:9/v2' } })).status, 200, 'another path of the same server');
  assert.equal((await edit('agent', { id, agent: { baseUrl: 'http://127.0.0.1:10/v1', apikey: 'sk-new' } })).status, 200);
  assert.equal((await edit('agent', { id, delete: true })).status, 200);
});

test('agents: the key of the instance is used for the address of a provider only', async () => {
  assert.equal((await account.call('POST', '/instance/updatechatbotsettings', { ai_apikey: secret })).status, 200);
  const elsewhere = await edit('agent', { agent: { ...agent, provider: 'openai', apikey: '' } });
  assert.deepEqual(elsewhere, { status: 400, body: { error: 'apikey is required' } });
  const usual = await edit('agent', { agent: { ...agent, provider: 'openai', baseUrl: '', apikey: '' } });
  assert.equal(usual.status, 201);
  const moved = await edit('agent', { id: String(usual.body['id']), agent: { baseUrl: 'http://127.0.0.1:9/v1' } });
  assert.deepEqual(moved, { status: 400, body: { error: 'apikey is required' } });
  assert.equal((await edit('agent', { id: String(usual.body['id']), delete: true })).status, 200);
  assert.equal((await account.call('POST', '/instance/updatechatbotsettings', { ai_apikey: '' })).status, 200);
});

const refusedAgents: readonly (readonly [title: string, body: () => Json, status: number, error: string])[] = [
  ['no model', () => ({ agent: { ...agent, model: ' ' } }), 400, 'model is required'],
  ['no name', () => ({ agent: { ...agent, name: '' } }), 400, 'name is required'],
  ['no key', () => ({ agent: { ...agent, provider: 'openai', apikey: '', baseUrl: '' } }), 400, 'apikey is required'],
  ['a key of two words', () => ({ agent: { ...agent, apikey: 'my key' } }), 400, 'apikey has characters that no key has'],
  ...['?key=1', '#part', '?'].map(
    (end) =>
      [
        `an address that ends with ${end}`,
        () => ({ agent: { ...agent, baseUrl: `http://127.0.0.1:9/v1${end}` } }),
        400,
        'baseUrl must have no query and no fragment',
      ] as const,
  ),
  ['no address', () => ({ agent: { ...agent, baseUrl: '' } }), 400, 'baseUrl is required for a custom provider'],
  [
    'a private address',
    () => ({ agent: { ...agent, baseUrl: 'http://10.0.0.1/v1' } }),
    400,
    'baseUrl cannot be used: url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS',
  ],
  ['a temperature beyond the scale', () => ({ agent: { ...agent, temperature: 101 } }), 400, 'agent.temperature must be at most 100'],
  [
    'an unknown provider',
    () => ({ agent: { ...agent, provider: 'abacus' } }),
    400,
    'agent.provider must be one of openai, anthropic, gemini, deepseek, custom',
  ],
  [
    'media of one name',
    () => ({ agent: { ...agent, media: [1, 2].map(() => ({ name: 'a', type: 'image', file: 'https://a.example/a' })) } }),
    400,
    'media must have names that differ',
  ],
  ['an agent that is not there', () => ({ id: 'r0', agent }), 404, 'Agent not found'],
  ['a deletion of none', () => ({ delete: true }), 404, 'Agent not found'],
];
for (const [title, body, status, error] of refusedAgents)
  test(`agents: refused: ${title}`, async () => assert.deepEqual(await edit('agent', body()), { status, body: { error } }));

test('triggers: one is created, listed, changed, and deleted with its agent', async () => {
  const made = await edit('trigger', { trigger: { type: 'agent', agent_id: agentId, wordsToStart: 'hello|good morning', priority: 2 } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const id = String(made.body['id']);
  const changed = await edit('trigger', {
    id,
    trigger: { type: 'agent', agent_id: agentId, lead_field: 'lead_status', lead_operator: 'not_empty', ignoreGroups: false },
  });
  const fields = {
    wordsToStart: 'hello|good morning',
    priority: 2,
    active: true,
    ignoreGroups: false,
    lead_field: 'lead_status',
    lead_operator: 'not_empty',
  };
  assert.deepEqual(picked(changed.body, fields), fields);
  assert.deepEqual(await listed('trigger'), [changed.body]);
  const other = await edit('agent', { agent: { ...agent, name: 'Bob' } });
  assert.equal((await edit('agent', { id: agentId, delete: true })).status, 200);
  assert.deepEqual([(await listed('trigger')).length, (await listed('agent')).map(({ name }) => name)], [0, ['Bob']]);
  agentId = String(other.body['id']);
});

const refusedTriggers: readonly (readonly [title: string, body: Json, status: number, error: string])[] = [
  ['an unknown agent', { trigger: { type: 'agent', agent_id: 'r0' } }, 400, 'there is no agent r0'],
  ['no agent', { trigger: { type: 'agent' } }, 400, 'agent_id is required'],
  ['an unknown quick reply', { trigger: { type: 'quickreply', quickReply_id: 'r0' } }, 400, 'there is no quick reply r0'],
  ['a flow', { trigger: { type: 'flow', flow_id: '1' } }, 400, 'there are no flows: type is agent or quickreply'],
  ['a field that no lead has', { trigger: { type: 'agent', lead_field: 'lead_shoeSize' } }, 400, 'trigger.lead_field must be one of '],
  ['a trigger that is not there', { id: 'r0', trigger: {} }, 404, 'Trigger not found'],
];
for (const [title, body, status, error] of refusedTriggers)
  test(`triggers: refused: ${title}`, async () => {
    const answered = await edit('trigger', body);
    assert.equal(answered.status, status);
    assert.ok(String(answered.body['error']).startsWith(error), JSON.stringify(answered.body));
  });

test('settings: they change one by one, and the key of the instance is never shown', async () => {
  const settings = {
    chatbot_enabled: true,
    chatbot_stopConversation: ' stop ',
    chatbot_stopMinutes: 5,
    chatbot_stopWhenYouSendMsg: '30',
    openai_apikey: secret,
  };
  const set = await account.call('POST', '/instance/updatechatbotsettings', settings);
  const shown = {
    chatbot_enabled: true,
    chatbot_ignoreGroups: false,
    chatbot_stopConversation: 'stop',
    chatbot_stopMinutes: 5,
    chatbot_stopWhenYouSendMsg: 30,
    ai_apikey: '********',
  };
  assert.equal(set.status, 200, JSON.stringify(set.body));
  assert.deepEqual(picked(set.body, shown), shown);
  const kept = await account.call('POST', '/instance/updatechatbotsettings', { chatbot_ignoreGroups: true, ai_apikey: '********' });
  assert.deepEqual(picked(kept.body, shown), { ...shown, chatbot_ignoreGroups: true });
  const refused = await account.call('POST', '/instance/updatechatbotsettings', { chatbot_stopMinutes: 'long' });
  assert.deepEqual([refused.status, refused.body], [400, { error: 'chatbot_stopMinutes must be a whole number' }]);
  const all = await gateway.call('GET', '/instance/all');
  assert.ok(!JSON.stringify([all.body, await listed('agent')]).includes(secret));
  assert.ok(!gateway.printed.includes(secret));
});

test('settings: a wrong token is refused everywhere', async () => {
  const calls = ['GET /agent/list', 'POST /agent/edit', 'GET /trigger/list', 'POST /trigger/edit', 'POST /instance/updatechatbotsettings'];
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ');
    const { status } = await gateway.call(method, path, { token: 'wrong', ...(method === 'GET' ? {} : { body: {} }) });
    assert.equal(status, 401, call);
  }
});

test('settings: a key that no header can carry is refused', async () => {
  for (const name of ['ai_apikey', 'openai_apikey']) {
    const { status, body } = await account.call('POST', '/instance/updatechatbotsettings', { [name]: 'a\nb' });
    assert.deepEqual([status, body], [400, { error: 'ai_apikey has characters that no key has' }]);
  }
});
