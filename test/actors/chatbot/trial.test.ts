/** Tests trials of agents on simulated time. The model is called as in a chat, and no contact, message or lead is changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { said } from '#test/fakes/chatbot.ts';
import { settle } from '#test/fakes/world.ts';
import { Bench } from './setup.ts';

const ask = (text: string) => ({ key: 'one', agentId: 'a1', dialogue: [{ by: 'user', text }] as const });

test('trials: the model gets the prompt and the last dialogue, and nothing is sent', async () => {
  const bench = await Bench.open({ agent: { memoryMost: 4 }, record: { chatbotEnabled: false } });
  const dialogue = [
    { by: 'user', text: 'one' },
    { by: 'assistant', text: 'two' },
    { by: 'user', text: 'three' },
    { by: 'assistant', text: 'four' },
    { by: 'user', text: 'five' },
    { by: 'user', text: 'six' },
  ] as const;
  const answer = await bench.gateway.tryAgent('r1', { key: 'one', agentId: 'a1', dialogue });
  assert.deepEqual(answer, { ok: true, value: { text: 'Hello!', error: '', tokens: 10, tools: [] } });
  assert.deepEqual(bench.read, ['user: three', 'assistant: four', 'user: five\nsix']);
  assert.equal(bench.asked.at(-1)?.question.prompt, 'You sell flowers.');
  await bench.pass(120_000);
  assert.deepEqual([bench.said, bench.asked.length, bench.extra()], [[], 1, {}]);
});

test('trials: a tool is checked and does not run, and the model reads the result', async () => {
  const bench = await Bench.open({ agent: { tools: ['handOver', 'setLeadField'] } });
  const wishes = [
    { id: 'c1', name: 'hand_over', arguments: '{"reason":"a person"}' },
    { id: 'c2', name: 'set_lead_field', arguments: '{"field":"lead_notes","value":"x"}' },
  ];
  bench.world.chatModels.answer = ({ dialogue }) => (dialogue.some(({ by }) => by === 'tool') ? said('A person comes.') : said('', wishes));
  const answer = await bench.gateway.tryAgent('r1', ask('a person please'));
  assert.ok(answer.ok);
  const { text, tools, tokens } = answer.value;
  assert.deepEqual([text, tokens, tools.map(({ name }) => name)], ['A person comes.', 20, ['hand_over', 'set_lead_field']]);
  assert.match(tools[0]?.result ?? '', /^done \(this is a trial/);
  assert.match(tools[1]?.result ?? '', /^not done: /);
  assert.deepEqual([bench.extra(), bench.said], [{}, []]);
});

test('trials: the tokens are counted, and a trial beyond the daily budget is refused', async () => {
  const bench = await Bench.open();
  await bench.gateway.tryAgent('r1', ask('hi'));
  const day = new Date(bench.world.time.now()).toISOString().slice(0, 10);
  assert.deepEqual((await bench.gateway.chatbotUsage('r1')).days, [{ day, tokens: 10 }]);
  bench.world.chatModels.answer = () => said('long', [], 20_000);
  await bench.gateway.tryAgent('r1', ask('hi'));
  const refused = await bench.gateway.tryAgent('r1', ask('hi'));
  assert.deepEqual(refused, { ok: false, refusal: { reason: 'limited', message: 'the tokens of the day are used up' } });
  assert.equal(bench.asked.length, 2);
});

test('trials: one runs at a time, and one whose model does not answer ends with a sentence', async () => {
  const bench = await Bench.open({ policy: { timeout: 10_000 } });
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(60_000, said('too late'));
  const first = bench.gateway.tryAgent('r1', ask('hi'));
  await settle();
  const second = await bench.gateway.tryAgent('r1', ask('hi'));
  assert.ok(!second.ok && second.refusal.reason === 'limited');
  await bench.pass(10_100);
  const answer = await first;
  assert.ok(answer.ok);
  assert.deepEqual([answer.value.text, answer.value.error], ['', 'no answer in time']);
  chatModels.answer = () => said('again');
  const third = await bench.gateway.tryAgent('r1', ask('hi'));
  assert.ok(third.ok && third.value.text === 'again');
});

test('trials: one whose client left is ended by its key, and the next one runs at once', async () => {
  const bench = await Bench.open();
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(60_000, said('too late'));
  const left = bench.gateway.tryAgent('r1', ask('hi'));
  await settle();
  await bench.world.answerOf(bench.gateway.endTrial('r1', 'another'));
  assert.equal((await bench.gateway.tryAgent('r1', ask('hi'))).ok, false);
  await bench.world.answerOf(bench.gateway.endTrial('r1', 'one'));
  await left;
  chatModels.answer = () => said('again');
  const next = await bench.gateway.tryAgent('r1', ask('hi'));
  assert.ok(next.ok && next.value.text === 'again');
});

test('trials: an unknown agent is refused, and a removed instance ends its trial', async () => {
  const bench = await Bench.open();
  const unknown = await bench.gateway.tryAgent('r1', { ...ask('hi'), agentId: 'a9' });
  assert.ok(!unknown.ok && unknown.refusal.message === 'Agent not found');
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(60_000, said('too late'));
  const trial = bench.gateway.tryAgent('r1', ask('hi'));
  await settle();
  await bench.world.answerOf(bench.gateway.remove('r1'));
  const ended = await trial;
  assert.ok(ended.ok && ended.value.text === '');
});
