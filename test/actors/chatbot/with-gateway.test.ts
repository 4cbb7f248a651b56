/** Tests the chatbot together with the rest of the gateway: tools, typing, starts, stops, crashes, and commands that change the chatbot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, refuse } from '#actors/model.ts';
import type { AnyOperation } from '#test/fakes/platform.ts';
import { said } from '#test/fakes/chatbot.ts';
import { settle } from '#test/fakes/world.ts';
import { Bench, chatId } from './setup.ts';

const wish = (name: string, given: object, id = '1') => ({ id, name, arguments: JSON.stringify(given) });

/** Makes the model call tools in its first answer and report their results in the second. */
const toolsThenWords = (bench: Bench, wishes: readonly ReturnType<typeof wish>[]): void => {
  bench.world.chatModels.answer = ({ dialogue }) => {
    const results = dialogue.filter(({ by }) => by === 'tool').map(({ text }) => text);
    return results.length === 0 ? said('', wishes) : said(results.join(' / '));
  };
};

const media = [{ name: 'card', description: '', as: 'image', file: 'https://a.example/card.png' }] as const;

test('tools: each one is a command of the gateway, and the model reads its outcome', async () => {
  const operations: AnyOperation[] = [];
  const bench = await Bench.open({
    agent: { tools: ['setLeadField', 'addLabel', 'sendMedia'], media },
    prepare: ({ db }) =>
      db.definitions.set('r1 label 7', {
        of: 'label',
        value: { id: '7', name: 'VIP', color: 1, deleted: false },
        instanceId: 'r1',
        created: 0,
        updated: 0,
      }),
  });
  bench.link().handle = (operation) => {
    operations.push(operation);
    return operation.name === 'label.mark' ? done(null) : refuse('notSupported', 'not of this test');
  };
  await bench.gateway.update('r1', { isBusiness: true });
  toolsThenWords(bench, [
    wish('set_lead_field', { field: 'lead_email', value: 'ana@example.com' }),
    wish('add_label', { label: 'VIP' }, '2'),
    wish('send_media', { name: 'card', caption: 'Look' }, '3'),
    wish('hand_over', { reason: 'x' }, '4'),
  ]);
  await bench.hear('hi');
  await bench.pass(4_000);
  assert.deepEqual(bench.said, ['media', 'done / done / sent / not done: there is no tool hand_over']);
  assert.equal(bench.extra()['lead_email'], 'ana@example.com');
  const marked = operations.find(({ name }) => name === 'label.mark');
  assert.deepEqual(marked?.input, { chatId, add: ['7'], remove: [] });
  const results = bench.link().sent.at(-1)?.aiMetadata?.response.toolResults;
  assert.deepEqual(
    (results as readonly { readonly name: string }[]).map(({ name }) => name),
    ['set_lead_field', 'add_label', 'send_media', 'hand_over'],
  );
});

test('tools: a hand-over sends the answer, opens a ticket with an event, and pauses the chatbot', async () => {
  const bench = await Bench.open({ agent: { tools: ['handOver'], handOverMinutes: 30 } });
  const events: string[] = [];
  bench.gateway.subscribe(
    'r1',
    ({ type }) => void events.push(type),
    () => undefined,
  );
  toolsThenWords(bench, [wish('hand_over', { reason: 'asked for it' })]);
  await bench.hear('a person please');
  await bench.pass(4_000);
  assert.deepEqual([bench.said.length, bench.extra()['lead_isTicketOpen']], [1, true]);
  assert.ok(events.includes('chats'));
  await bench.hear('hello?');
  await bench.pass(29 * 60_000);
  assert.equal(bench.said.length, 1);
  await bench.pass(60_000);
  await bench.hear('and now?');
  await bench.pass(4_000);
  assert.equal(bench.said.length, 2);
});

test('tools: calls and rounds are limited, and a model that only calls tools is stopped', async () => {
  const bench = await Bench.open({ agent: { tools: ['setLeadField'] } });
  bench.world.chatModels.answer = () =>
    said(
      'again',
      [1, 2, 3].map((n) => wish('set_lead_field', { field: 'lead_name', value: `${n}` }, `${n}`)),
    );
  await bench.hear('hi');
  await bench.pass(4_000);
  assert.deepEqual([bench.asked.length, bench.said], [4, ['again']]);
  const refused = bench.asked.at(-1)?.question.dialogue.filter(({ text }) => text === 'not done: too many tools for one answer');
  assert.equal(refused?.length, 4);
});

test('tools: a text that arrives after a tool was used does not restart the question', async () => {
  const bench = await Bench.open({ agent: { tools: ['setLeadField'] } });
  const { chatModels } = bench.world;
  chatModels.answer = (question, signal) => {
    const used = question.dialogue.some(({ by }) => by === 'tool');
    return used
      ? chatModels.after(5_000, said('noted'))(question, signal)
      : said('', [wish('set_lead_field', { field: 'lead_name', value: 'Ana' })]);
  };
  await bench.hear('I am Ana');
  await bench.pass(4_000);
  chatModels.answer = () => said('next');
  await bench.hear('and?');
  await bench.pass(20_000);
  assert.deepEqual(bench.said, ['noted', 'next']);
});

test('typing: it is shown while the model answers, and ended when there is no answer', async () => {
  const bench = await Bench.open({ record: { chatbotStopConversation: 'stop', chatbotStopMinutes: 1 } });
  const { chatModels } = bench.world;
  const calls = () => bench.link().calls.filter((call) => !call.startsWith('presence'));
  chatModels.answer = chatModels.after(5_000, { ok: false, error: 'the service refused the question (400)', cause: 'question' });
  await bench.hear('hi');
  await bench.pass(4_000);
  assert.deepEqual(calls(), [`composing ${chatId}`]);
  await bench.pass(5_000);
  assert.deepEqual(calls(), [`composing ${chatId}`, `paused ${chatId}`]);
  chatModels.answer = chatModels.after(5_000, said('late'));
  await bench.hear('hi');
  await bench.pass(4_000);
  await bench.gateway.editLead('r1', chatId, { chatbot_disableUntil: Math.ceil(bench.world.time.now() / 1000) + 600 });
  await bench.pass(60_000);
  assert.deepEqual([calls().slice(2), bench.said], [[`composing ${chatId}`, `paused ${chatId}`], []]);
});

test('typing: no end is sent when the owner writes after the answer', async () => {
  const bench = await Bench.open();
  await bench.hear('hi');
  await bench.pass(10_000);
  const before = bench.link().calls.length;
  await bench.hear('I am here myself', { fromMe: true });
  await bench.pass(10_000);
  assert.deepEqual([bench.said.length, bench.link().calls.slice(before)], [1, []]);
});

test('starts: a recent unanswered question is answered once, and older ones are left alone', async () => {
  const bench = await Bench.open();
  bench.world.chatModels.answer = bench.world.chatModels.after(1e9, said('never'));
  await bench.hear('unanswered');
  await bench.hear('answered', { chatId: '5511999990002@s.whatsapp.net' });
  await bench.hear('by the owner', { chatId: '5511999990002@s.whatsapp.net', fromMe: true });
  await bench.pass(5_000);
  await bench.gateway.stop();
  const { world } = bench;
  world.platform.links.clear();
  world.chatModels.answer = () => said('after the start');
  world.platform.onOpen = (link) => queueMicrotask(() => link.state === 'open' && link.login());
  const again = await world.start();
  await again.restore();
  await world.time.pass(20_000);
  const sent = world.platform.of('r1').sent.map(({ text, chatId: to }) => `${to} ${text}`);
  assert.deepEqual(sent, [`${chatId} after the start`]);
  assert.deepEqual(bench.read, ['user: unanswered']);
  world.platform.of('r1').end(428);
  await world.time.pass(20_000);
  assert.equal(world.platform.of('r1').sent.length, 1, 'a reconnection asks for nothing');
});

test('stops: after a stop no model is called and nothing is sent, and the call under way is cancelled', async () => {
  const bench = await Bench.open();
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(5_000, said('late'));
  await bench.hear('hi');
  await bench.pass(4_000);
  await bench.gateway.stop();
  assert.ok(bench.asked[0]?.signal.aborted);
  await bench.pass(60_000);
  assert.deepEqual(bench.said, []);
});

test('crashes: an error in one conversation is counted and affects no other', async () => {
  const bench = await Bench.open();
  const { chatModels, log } = bench.world;
  chatModels.answer = ({ dialogue }) => {
    if (dialogue.some(({ text }) => text === 'break')) throw new Error('broken');
    return said('fine');
  };
  await bench.hear('break', { chatId: '5511999990002@s.whatsapp.net' });
  await bench.hear('hi');
  await bench.pass(4_000);
  assert.deepEqual([bench.said, log.of('chatbot.crashed').length], [['fine'], 1]);
  await bench.hear('hi again', { chatId: '5511999990002@s.whatsapp.net' });
  chatModels.answer = () => said('fine too');
  await bench.pass(4_000);
  assert.deepEqual(bench.said, ['fine', 'fine too']);
});

test('storage: an outage crashes nothing, and the question is answered after the outage', async () => {
  const bench = await Bench.open();
  const { db, log } = bench.world;
  await bench.hear('hi');
  db.away = true;
  await bench.pass(10_000);
  db.away = false;
  await bench.pass(5_000);
  assert.equal(bench.said.length, 1);
  assert.deepEqual([log.of('chatbot.crashed').length, log.of('chatbot.notAnswered').length], [0, 0]);
});

/** Opens a gateway whose database is away since shortly before the model answered. */
const openAway = async (): Promise<Bench> => {
  const bench = await Bench.open();
  const { db, chatModels } = bench.world;
  chatModels.answer = chatModels.after(2_000, said('ready'));
  await bench.hear('hi');
  await bench.pass(4_000);
  db.away = true;
  await bench.pass(5_000);
  return bench;
};

test('storage: an answer that was ready before an outage is sent after the outage, without a second request to the model', async () => {
  const bench = await openAway();
  assert.deepEqual(bench.said, []);
  bench.world.db.away = false;
  await bench.pass(5_000);
  assert.deepEqual([bench.said, bench.asked.length], [['ready'], 1]);
});

test('storage: an answer that was ready before an outage is not sent if its trigger is deleted after the outage', async () => {
  const bench = await openAway();
  bench.world.db.away = false;
  const deleted = await bench.gateway.editTrigger('r1', { id: 't1', delete: true, fields: {} });
  assert.ok(deleted.ok, JSON.stringify(deleted));
  await bench.pass(5_000);
  assert.deepEqual([bench.said, bench.asked.length], [[], 1]);
});

test('storage: after a long outage the old question is not answered, and the next text is', async () => {
  const bench = await Bench.open();
  const { db, log } = bench.world;
  await bench.hear('hi');
  db.away = true;
  await bench.pass(400_000);
  db.away = false;
  await bench.pass(5_000);
  assert.deepEqual([bench.said.length, log.of('chatbot.crashed').length, log.of('chatbot.notAnswered').length], [0, 0, 1]);
  await bench.hear('hello?');
  await bench.pass(5_000);
  assert.equal(bench.said.length, 1);
});

test('changes: a changed agent answers with its new settings, and a deleted one does not answer', async () => {
  const bench = await Bench.open();
  await bench.hear('one');
  await bench.pass(4_000);
  const edited = await bench.gateway.editAgent('r1', {
    id: 'a1',
    delete: false,
    fields: { prompt: 'You sell shoes to {{name}}.' },
    key: 'k2',
  });
  assert.ok(edited.ok, JSON.stringify(edited));
  await bench.hear('two');
  await bench.pass(4_000);
  const { prompt, key } = bench.asked.at(-1)?.question ?? {};
  assert.deepEqual([prompt?.startsWith('You sell shoes to '), prompt?.includes('{{'), key], [true, false, 'k2']);
  await bench.gateway.editAgent('r1', { id: 'a1', delete: true, fields: {} });
  assert.equal(bench.world.chatbots.allKeys.size, 0);
  await bench.hear('three');
  await bench.pass(4_000);
  assert.equal(bench.said.length, 2);
});

test('changes: removing an instance ends its conversations', async () => {
  const bench = await Bench.open();
  await bench.hear('hi');
  const removed = bench.gateway.remove('r1');
  await bench.world.answerOf(removed);
  await bench.pass(60_000);
  assert.equal(bench.asked.length, 0);
});

test('sessions: an answer whose session went away waits in the queue, and is sent once when the session is back', async () => {
  const bench = await Bench.open();
  const { chatModels, platform } = bench.world;
  chatModels.answer = chatModels.after(2_000, said('here'));
  await bench.hear('hi');
  await bench.pass(4_000);
  platform.onOpen = (link) => void bench.world.time.setTimeout(() => link.state === 'open' && link.login(), 3_000);
  bench.link().end(428);
  await settle();
  await bench.pass(60_000);
  assert.deepEqual(bench.said, ['here']);
});
