/** Tests the chatbot's rows in PostgreSQL: sealed keys, tokens of a day, and chats with recent messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newAgent } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { bindKeys } from '#src/storage/migrations/from-first-release.ts';
import { instance, message } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const { chatbots, instances, journal, messages } = await database.storage();
const { epoch } = instance.record;
for (const id of ['r1', 'r2']) await instances.insert({ ...instance.record, id, token: id });
const claim = { instanceId: 'r1', epoch };
const former = { instanceId: 'r1', epoch: epoch + 1 };

test('chatbots: keys are encrypted, replaced and removed, for one instance only', async () => {
  await chatbots.saveKey(claim, { id: 'a1', provider: 'openai', baseUrl: '' }, 'sk-first');
  await chatbots.saveKey(claim, { id: 'a1', provider: 'openai', baseUrl: '' }, 'sk-second');
  await chatbots.saveKey(claim, { id: 'a2', provider: 'openai', baseUrl: '' }, 'sk-other');
  await chatbots.saveKey(claim, { id: 'a2', provider: 'openai', baseUrl: '' }, '');
  assert.deepEqual([...(await chatbots.keys('r1'))], [['a1', { key: 'sk-second', service: { provider: 'openai', baseUrl: '' } }]]);
  assert.equal((await chatbots.keys('r2')).size, 0);
  const rows = await database.admin.rows<{ row: string }>(
    { name: '', text: `select encode(sealed, 'escape') as row from chatbot_key` },
    [],
  );
  assert.ok(rows.length === 1 && !rows[0]?.row.includes('sk-'));
});

test('chatbots: a key is stored with its service, and the migration adds the service of the agent to stored keys', async () => {
  const [agent, other] = [
    { id: 'a1', provider: 'custom', baseUrl: 'https://llm.example.com' },
    { id: 'a2', provider: 'openai', baseUrl: '' },
  ] as const;
  await chatbots.saveKey(claim, agent, 'sk-second');
  const value = { ...newAgent, ...other, name: 'Ada' };
  await journal.commit({ id: 'r1', owner: '', epoch }, [{ kind: 'definition', definition: { of: 'chatbotAgent', value } }], () => []);
  await chatbots.saveKey(claim, other, 'sk-other');
  await database.admin.rows({ name: '', text: `update chatbot_key set provider = null, base_url = null where agent_id = 'a2'` }, []);
  const service = async (id: string) => (await chatbots.keys('r1')).get(id)?.service;
  assert.deepEqual([await service('a1'), await service('a2')], [{ provider: 'custom', baseUrl: 'https://llm.example.com' }, null]);
  await database.admin.rows({ name: '', text: bindKeys }, []);
  assert.deepEqual(
    [await service('a1'), await service('a2')],
    [
      { provider: 'custom', baseUrl: 'https://llm.example.com' },
      { provider: 'openai', baseUrl: '' },
    ],
  );
});

test('chatbots: tokens are summed by day, and days before the last month are deleted', async () => {
  assert.equal(await chatbots.tokens('r1', '2026-08-19'), 0);
  await Promise.all([1, 2, 3].map((tokens) => chatbots.addTokens(claim, '2026-08-19', tokens)));
  assert.equal(await chatbots.tokens('r1', '2026-08-19'), 6);
  await chatbots.addTokens(claim, '2026-08-20', 5);
  assert.deepEqual(await chatbots.usage('r1'), [
    { day: '2026-08-20', tokens: 5 },
    { day: '2026-08-19', tokens: 6 },
  ]);
  await chatbots.addTokens(claim, '2026-09-20', 2);
  assert.deepEqual(
    (await chatbots.usage('r1')).map(({ day }) => day),
    ['2026-09-20', '2026-08-20'],
  );
});

test('chatbots: a former owner writes nothing', async () => {
  await assert.rejects(chatbots.saveKey(former, { id: 'a1', provider: 'openai', baseUrl: '' }, 'sk-third'), EpochLost);
  await assert.rejects(chatbots.saveKey(former, { id: 'a1', provider: 'openai', baseUrl: '' }, ''), EpochLost);
  await assert.rejects(chatbots.addTokens(former, '2026-08-20', 5), EpochLost);
  assert.equal((await chatbots.keys('r1')).get('a1')?.key, 'sk-second');
  assert.equal(await chatbots.tokens('r1', '2026-08-20'), 5);
});

test('chatbots: chats that end with a recent message of a contact are found, the latest first', async () => {
  const said = (chatId: string, timestamp: number, fromMe = false) =>
    ({
      kind: 'message',
      message: { ...message, messageId: `${chatId} ${timestamp}`, chatId, chatLid: '', timestamp, fromMe },
      chat: { chatId, lastMessageTimestamp: timestamp },
      unread: true,
    }) as const;
  const all = [said('old', 1_000), said('new', 3_000), said('newer', 4_000), said('answered', 5_000), said('answered', 5_000, true)];
  const distinct = all.map((entry, n) => ({ ...entry, message: { ...entry.message, messageId: `M${n}` } }));
  await journal.commit({ id: 'r1', owner: '', epoch }, distinct, () => []);
  assert.deepEqual(
    (await chatbots.unanswered('r1', 2_000, 10)).map(({ chatId }) => chatId),
    ['newer', 'new'],
  );
  assert.equal((await chatbots.unanswered('r1', 0, 1)).length, 1);
  assert.deepEqual(await chatbots.unanswered('r2', 0, 10), []);
});

test('chatbots: a message has the record of its origin', async () => {
  const aiMetadata = {
    agentId: 'a1',
    request: { messages: [{ role: 'user' }], tools: [], options: { model: 'm' } },
    response: { choices: [], toolResults: [], error: '' },
  };
  const sent = { ...message, messageId: 'bot', fromMe: true, aiMetadata };
  await journal.commit({ id: 'r1', owner: '', epoch }, [{ kind: 'queued', message: sent, chat: { chatId: sent.chatId } }], () => []);
  assert.deepEqual((await messages.byId('r1', 'bot'))?.aiMetadata, aiMetadata);
});
