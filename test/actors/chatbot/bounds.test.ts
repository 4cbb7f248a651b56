/** Tests the end of a long answer and the limit of its length. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedMetadata } from '#actors/chatbot/asking.ts';
import { cutText, longestText } from '#actors/model.ts';
import { said } from '#test/fakes/chatbot.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { Bench, chatId } from './setup.ts';

const long = 'one two three four five six';
const talking = { maxMessageLength: 5, typingSeconds: 2 };
const stops: readonly (readonly [title: string, stop: (bench: Bench) => Promise<unknown>])[] = [
  ['the chatbot is turned off', (bench) => bench.gateway.update('r1', { chatbotEnabled: false })],
  ['the stop keyword is written', (bench) => bench.hear('stop')],
  [
    'the chat is paused',
    ({ gateway, world }) => gateway.editLead('r1', chatId, { chatbot_disableUntil: Math.ceil(world.time.now() / 1000) + 600 }),
  ],
  ['the agent is deleted', ({ gateway }) => gateway.editAgent('r1', { id: 'a1', delete: true, fields: {} })],
];
for (const [title, stop] of stops)
  test(`long answers: no further message is sent once ${title}`, async () => {
    const bench = await Bench.open({
      agent: talking,
      policy: { pieces: 10 },
      record: { chatbotStopConversation: 'stop', chatbotStopMinutes: 10 },
    });
    bench.world.chatModels.answer = () => said(long);
    await bench.hear('hi');
    await bench.pass(5_500);
    assert.equal(bench.said.length, 1);
    await stop(bench);
    await bench.pass(60_000);
    assert.ok(bench.said.length <= 2, bench.said.join('|'));
  });

test('long answers: they are sent in pieces, and their placeholders are not replaced', async () => {
  const bench = await Bench.open({ agent: { maxMessageLength: 20 } });
  bench.world.chatModels.answer = () => said('First sentence. Then {{lead_notes}}. Last word');
  await bench.hear('hi');
  await bench.pass(4_000);
  assert.deepEqual(bench.said, ['First sentence.', 'Then {{lead_notes}}.', 'Last word']);
});

test('long answers: the last allowed piece has the remaining text, and only the first piece names its origin', async () => {
  const bench = await Bench.open({ agent: { maxMessageLength: 5 }, policy: { pieces: 3 } });
  bench.world.chatModels.answer = () => said(long);
  await bench.hear('hi');
  await bench.pass(5_000);
  assert.deepEqual(bench.said, ['one', 'two', 'three four five six']);
  assert.deepEqual(
    bench.link().sent.map(({ aiMetadata }) => Boolean(aiMetadata)),
    [true, false, false],
  );
});

test('long answers: no message is longer than the API allows, including the signature', async () => {
  const bench = await Bench.open({ agent: { signMessages: true } });
  bench.world.chatModels.answer = () => said('x'.repeat(longestText));
  await bench.hear('hi');
  await bench.pass(5_000);
  assert.deepEqual([bench.said[0]?.length, bench.said[0]?.endsWith('x…')], [longestText, true]);
});

test('long answers: a text is never cut inside a surrogate pair', () => {
  assert.deepEqual([cutText('ab😀cd', 4), cutText('ab😀cd', 5), cutText('abc', 3)], ['ab…', 'ab😀…', 'abc']);
});

test('long answers: the stored record of an answer is bounded, and keeps the latest part of the memory', () => {
  const [many, text] = [Array.from({ length: 500 }, (_, n) => ({ n, content: 'y'.repeat(1_000) })), 'z'.repeat(100_000)];
  const request = { messages: many, tools: many, options: {} };
  const told = boundedMetadata({
    agentId: 'a',
    request,
    response: { choices: [{ message: { content: text } }], toolResults: many, error: '' },
  });
  assert.ok(JSON.stringify(told).length < 64_000, `${JSON.stringify(told).length}`);
  assert.deepEqual([told.request.messages.at(-1), told.response.toolResults[0], told.response.choices.length], [many[499], many[0], 1]);
});

test('settings: turning the chatbot off cancels the call under way', async () => {
  const bench = await Bench.open();
  bench.world.chatModels.answer = bench.world.chatModels.after(10_000, said('late'));
  await bench.hear('hi');
  await bench.pass(4_000);
  await bench.gateway.update('r1', { chatbotEnabled: false });
  assert.ok(bench.asked[0]?.signal.aborted);
  await bench.pass(60_000);
  assert.deepEqual(bench.said, []);
});

test('services: one that asked for an hour of silence is called again as soon as its agent is changed', async () => {
  const bench = await Bench.open({ policy: { retries: 0 } });
  const { chatModels } = bench.world;
  chatModels.answer = () => ({ ok: false, error: 'the service answered 503', cause: 'busy', retryAfter: 3_600 });
  await bench.hear('hi');
  await bench.pass(5_000);
  chatModels.answer = () => said('back');
  await bench.gateway.editAgent('r1', { id: 'a1', delete: false, fields: { model: 'other' } });
  await bench.hear('hello?');
  await bench.pass(5_000);
  assert.deepEqual(bench.said, ['back']);
});

test('services: one that asked for an hour of silence is called again before a question is too old', async () => {
  const bench = await Bench.open({
    policy: { retries: 0, fresh: 60_000 },
    more: { delivery: { ...testPolicy.delivery, retryAfterMax: 3_600_000 } },
  });
  const { chatModels } = bench.world;
  chatModels.answer = () => ({ ok: false, error: 'the service answered 503', cause: 'busy', retryAfter: 3_600 });
  await bench.hear('hi');
  await bench.pass(5_000);
  chatModels.answer = () => said('back');
  await bench.pass(60_000);
  await bench.hear('hello?');
  await bench.pass(5_000);
  assert.deepEqual(bench.said, ['back']);
});

test('tools: a model that calls tools up to the limit without an answer is named in the log', async () => {
  const bench = await Bench.open({ agent: { tools: ['setLeadField'] } });
  const wish = { id: '1', name: 'set_lead_field', arguments: '{"field":"lead_name","value":"Ana"}' };
  bench.world.chatModels.answer = () =>
    said(
      '',
      Array.from({ length: 1_000 }, () => wish),
    );
  await bench.hear('hi');
  await bench.pass(5_000);
  assert.deepEqual(
    bench.world.log.of('chatbot.notAnswered').map(({ fields }) => fields['reason']),
    ['the model reached the limit of tool calls without an answer'],
  );
  const kept = bench.asked.at(-1)?.question.dialogue.flatMap((turn) => (turn.by === 'assistant' ? turn.wishes : []));
  assert.ok(kept && kept.length <= 18, `${kept?.length}`);
});

test('waits: a trigger that waits longer than a question stays fresh is answered after its wait', async () => {
  const bench = await Bench.open({ triggers: [{ delaySeconds: 1_200 }] });
  await bench.hear('hi');
  await bench.pass(600_000);
  await bench.hear('are you open?');
  await bench.pass(610_000);
  assert.deepEqual([bench.asked.length, bench.read, bench.said], [1, ['user: hi\nare you open?'], ['Hello!']]);
});

test('waits: an answer after a long wait survives a short outage of storage', async () => {
  const bench = await Bench.open({ triggers: [{ delaySeconds: 1_200 }] });
  const { db } = bench.world;
  await bench.hear('hi');
  await bench.pass(1_190_000);
  db.away = true;
  await bench.pass(20_000);
  db.away = false;
  await bench.pass(60_000);
  assert.deepEqual(bench.said, ['Hello!']);
});
