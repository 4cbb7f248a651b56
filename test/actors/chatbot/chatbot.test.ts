/** Tests the chatbot on simulated time: when it answers, when it is silent, and the limits of its costs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '#actors/model.ts';
import { said } from '#test/fakes/chatbot.ts';
import { options, text } from '../stage.ts';
import { Bench, chatId, groupId, type Setting } from './setup.ts';

test('chatbot: texts that arrive together are one question, which is answered once after a pause', async () => {
  const bench = await Bench.open();
  await bench.hear('hi');
  await bench.pass(2_000);
  await bench.hear('are you');
  await bench.pass(2_000);
  await bench.hear('open?');
  await bench.pass(2_900);
  assert.equal(bench.asked.length, 0);
  await bench.pass(200);
  assert.deepEqual([bench.read, bench.said], [['user: hi\nare you\nopen?'], ['Hello!']]);
  await bench.pass(120_000);
  assert.equal(bench.asked.length, 1);
  bench.world.assertKept();
});

test('chatbot: texts that keep arriving are answered after the longest pause', async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 5; n += 1) {
    await bench.hear(`part ${n}`);
    await bench.pass(2_500);
  }
  assert.deepEqual(bench.read, ['user: part 0\npart 1\npart 2\npart 3\npart 4']);
});

test('chatbot: the answer is stored with its origin, under the function chatbot', async () => {
  const bench = await Bench.open({ agent: { signMessages: true } });
  await bench.hear('hi');
  await bench.pass(3_100);
  const [sent] = bench.link().sent;
  assert.deepEqual([sent?.text, sent?.sendFunction, sent?.wasSentByApi], ['*Ada:*\nHello!', 'chatbot', true]);
  assert.deepEqual([sent?.aiMetadata?.agentId, sent?.aiMetadata?.response.choices.length], ['a1', 1]);
  assert.equal(bench.extra()['chatbot_lastTrigger_id'], 't1');
  assert.equal(bench.extra()['chatbot_lastTriggerAt'], Math.floor(bench.world.time.now() / 1000));
});

test('chatbot: it remembers the conversation since the last reset of its memory, without its signature', async () => {
  const bench = await Bench.open({ agent: { signMessages: true, memoryMost: 3 } });
  for (const word of ['one', 'two']) {
    await bench.hear(word);
    await bench.pass(4_000);
  }
  assert.deepEqual(bench.read, ['user: one', 'assistant: Hello!', 'user: two']);
  await bench.hear('three');
  await bench.pass(4_000);
  assert.deepEqual(bench.read, ['user: two', 'assistant: Hello!', 'user: three']);
  await bench.gateway.editLead('r1', chatId, { chatbot_agentResetMemoryAt: Math.floor(bench.world.time.now() / 1000) });
  await bench.pass(60_000);
  await bench.hear('four');
  await bench.pass(4_000);
  assert.deepEqual(bench.read, ['user: four']);
});

/** Messages and settings for which no answer follows. The title is the reason. */
const silent: readonly (readonly [title: string, setting: Setting, change: Partial<Message>, word?: string])[] = [
  ['the chatbot is off', { record: { chatbotEnabled: false } }, {}],
  ['there is no trigger', { triggers: [] }, {}],
  ['the trigger is not active', { triggers: [{ active: false }] }, {}],
  ['its word is not in the text', { triggers: [{ words: 'hello|good day' }] }, {}, 'othello'],
  [
    'it is a group and the instance ignores groups',
    { record: { chatbotIgnoreGroups: true }, triggers: [{ ignoreGroups: false }] },
    { chatId: groupId, isGroup: true },
  ],
  ['it is a group and the trigger ignores groups', {}, { chatId: groupId, isGroup: true }],
  ['it is a status post', { triggers: [{ ignoreGroups: false }] }, { chatId: 'status@broadcast' }],
  ['it is a post of a channel', { triggers: [{ ignoreGroups: false }] }, { chatId: '120@newsletter' }],
  ['it is a reaction', {}, { type: 'reaction', reaction: 'M0' }, '👍'],
  ['it is a picture without a text', {}, { type: 'media', mediaType: 'image', messageType: 'ImageMessage' }, ''],
  ['it is too old', {}, { timestamp: Date.parse('2026-08-19T11:00:00Z') }],
  ['the owner wrote it', {}, { fromMe: true }],
  ['the field of the lead differs', { triggers: [{ leadField: 'lead_status', leadOperator: 'equals', leadValue: 'new' }] }, {}],
  ['the agent is gone', { triggers: [{ agentId: 'a0' }] }, {}],
];
for (const [title, setting, change, word = 'hi'] of silent)
  test(`chatbot: it is silent when ${title}`, async () => {
    const bench = await Bench.open(setting);
    await bench.hear(word, change);
    await bench.pass(60_000);
    assert.deepEqual([bench.asked.length, bench.said], [0, []]);
  });

const heard: readonly (readonly [title: string, setting: Setting, change: Partial<Message>, word: string, read: string])[] = [
  ['a word of the trigger in the text', { triggers: [{ words: 'price|Good  Day' }] }, {}, 'Well, GOOD day!', 'Well, GOOD day!'],
  [
    'a group, with the name of who asks',
    { triggers: [{ ignoreGroups: false }] },
    { chatId: groupId, isGroup: true, senderName: 'Bob' },
    'hi',
    'Bob: hi',
  ],
  ['the caption of a picture', {}, { type: 'media', mediaType: 'image' }, 'what is this?', 'what is this?'],
  ['a button that was tapped', {}, { type: 'media', mediaType: 'buttons_response', vote: 'Yes' }, '', 'Yes'],
  ['a lead whose field is empty', { triggers: [{ leadField: 'lead_status', leadOperator: 'empty' }] }, {}, 'hi', 'hi'],
];
for (const [title, setting, change, word, read] of heard)
  test(`chatbot: it answers ${title}`, async () => {
    const bench = await Bench.open(setting);
    await bench.hear(word, change);
    await bench.pass(4_000);
    assert.deepEqual([bench.read, bench.said], [[`user: ${read}`], ['Hello!']]);
  });

test('chatbot: a trigger with a matching word comes first, then the trigger that led so far, then one for every text', async () => {
  const agents = ['first', 'second', 'third'];
  const bench = await Bench.open({
    triggers: [
      { words: '', agentId: 'third', priority: 9 },
      { words: 'rose', agentId: 'first', priority: 1 },
      { words: 'tulip', agentId: 'second' },
    ],
    prepare: ({ db }) => {
      for (const id of agents) {
        const known = db.definitions.get('r1 chatbotAgent a1')!;
        db.definitions.set(`r1 chatbotAgent ${id}`, { ...known, value: { ...known.value, id } } as typeof known);
      }
    },
  });
  const answering: (string | undefined)[] = [];
  for (const word of ['hi', 'a rose', 'how much?', 'tulip and rose', 'a tulip', 'thanks']) {
    await bench.hear(word);
    await bench.pass(61_000);
    answering.push(bench.asked.at(-1)?.question.agent.id);
  }
  assert.deepEqual(answering, ['third', 'first', 'first', 'first', 'second', 'second']);
});

test('chatbot: the stop keyword pauses the conversation for the configured minutes', async () => {
  const bench = await Bench.open({ record: { chatbotStopConversation: 'Stop it', chatbotStopMinutes: 10 } });
  await bench.hear(' stop IT ');
  await bench.pass(4_000);
  await bench.hear('hello?');
  await bench.pass(9 * 60_000);
  assert.equal(bench.asked.length, 0);
  await bench.pass(2 * 60_000);
  await bench.hear('again');
  await bench.pass(4_000);
  assert.equal(bench.said.length, 1);
});

test('chatbot: a stop keyword that arrives while the model answers cancels the call and ends the typing indicator', async () => {
  const bench = await Bench.open({ record: { chatbotStopConversation: 'stop', chatbotStopMinutes: 10 } });
  bench.world.chatModels.answer = bench.world.chatModels.after(10_000, said('too late'));
  await bench.hear('hi');
  await bench.pass(5_000);
  await bench.hear('stop');
  await bench.pass(1);
  assert.ok(bench.asked[0]?.signal.aborted);
  assert.equal(bench.link().calls.at(-1), `paused ${chatId}`);
  await bench.pass(60_000);
  assert.deepEqual(bench.said, []);
});

test('chatbot: a stop keyword pauses at once, also after texts that are still being gathered', async () => {
  const bench = await Bench.open({ record: { chatbotStopConversation: 'stop', chatbotStopMinutes: 10 } });
  await bench.hear('hi');
  await bench.hear('stop');
  assert.equal(bench.extra()['chatbot_disableUntil'], Math.floor(bench.world.time.now() / 1000) + 600);
  await bench.pass(60_000);
  assert.equal(bench.asked.length, 0);
});

test('chatbot: a stop keyword in a group that the chatbot ignores pauses nothing', async () => {
  const bench = await Bench.open({ record: { chatbotStopConversation: 'stop', chatbotStopMinutes: 10, chatbotIgnoreGroups: true } });
  await bench.hear('stop', { chatId: groupId, isGroup: true });
  await bench.pass(10_000);
  assert.equal(bench.extra(groupId)['chatbot_disableUntil'], undefined);
});

test('chatbot: a message that the owner sends from a phone ends the answer under way and pauses, and one over the API does not', async () => {
  const bench = await Bench.open({ record: { chatbotStopWhenYouSendMsg: 5 } });
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(10_000, said('late'));
  await bench.hear('hi');
  await bench.pass(5_000);
  await bench.hear('I am here', { fromMe: true });
  assert.ok(bench.asked[0]?.signal.aborted);
  await bench.pass(60_000);
  await bench.hear('hello');
  await bench.pass(60_000);
  assert.deepEqual([bench.said, bench.asked.length], [[], 1]);
  await bench.pass(5 * 60_000);
  await bench.gateway.send('r1', text('5511999990001', 'a reminder'), options);
  await bench.hear('now?');
  await bench.pass(20_000);
  assert.deepEqual(bench.said, ['a reminder', 'late']);
});

for (const [place, trackSource, questions] of [
  ['in Chatwoot counts as a message of the owner', 'chatwoot', 0],
  ['in the dashboard counts as a message of the owner', 'dormouse-dashboard', 0],
  ['in a program with an origin of its own does not pause', 'dashboard', 1],
] as const)
  test(`chatbot: a reply that a person writes ${place}`, async () => {
    const bench = await Bench.open({ record: { chatbotStopWhenYouSendMsg: 5 } });
    await bench.gateway.send('r1', text('5511999990001', 'I take over'), { ...options, trackSource });
    await bench.hear('thanks');
    await bench.pass(60_000);
    assert.equal(bench.asked.length, questions);
  });

test('chatbot: a text that arrives while the model answers restarts the question, at most twice', async () => {
  const bench = await Bench.open();
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(5_000, said('answer'));
  await bench.hear('one');
  for (const word of ['two', 'three', 'four']) {
    await bench.pass(4_000);
    await bench.hear(word);
  }
  await bench.pass(30_000);
  assert.deepEqual(
    [bench.asked.map(({ signal }) => signal.aborted), bench.said],
    [
      [true, true, false, false],
      ['answer', 'answer'],
    ],
  );
  assert.deepEqual(bench.asked[2]?.question.dialogue, [{ by: 'user', text: 'one\ntwo\nthree' }]);
  assert.deepEqual(bench.read.at(-1), 'user: four');
});

test('chatbot: two bots that answer each other stop at the limit of answers per minute', async () => {
  const bench = await Bench.open({ policy: { pause: 0, answersPerMinute: 3 } });
  bench.link().answer = (message) => {
    if (message.fromMe) queueMicrotask(() => void bench.hear(`and you? ${bench.said.length}`));
    return { ok: true, value: { at: bench.world.time.now() } };
  };
  await bench.hear('hi');
  await bench.pass(50_000);
  assert.equal(bench.said.length, 3);
  assert.equal(bench.world.log.of('chatbot.limited').length, 1);
});

test('chatbot: two slow bots stop at the limit of answers in a row, and people are answered after a minute of silence', async () => {
  const bench = await Bench.open({ policy: { pause: 6_000, answersInARow: 5 } });
  let talks = true;
  bench.link().answer = (message) => {
    if (message.fromMe && talks) bench.world.time.setTimeout(() => void bench.hear(`and you? ${bench.said.length}`), 20_000);
    return { ok: true, value: { at: bench.world.time.now() } };
  };
  await bench.hear('hi');
  await bench.pass(600_000);
  assert.equal(bench.said.length, 5);
  assert.equal(bench.world.log.of('chatbot.limited').length, 1);
  talks = false;
  await bench.hear('is anybody there?');
  await bench.pass(60_000);
  assert.equal(bench.said.length, 6);
});

test('chatbot: two bots that take minutes per answer stop at the daily limit, also when the conversation restarts', async () => {
  const bench = await Bench.open({ policy: { answersPerDay: 4 } });
  let talks = true;
  bench.link().answer = (message) => {
    if (message.fromMe && talks) bench.world.time.setTimeout(() => void bench.hear(`and you? ${bench.said.length}`), 300_000);
    return { ok: true, value: { at: bench.world.time.now() } };
  };
  const untilMidnight = 86_400_000 - (bench.world.time.now() % 86_400_000);
  await bench.pass(untilMidnight);
  await bench.hear('hi');
  await bench.pass(3 * 3_600_000);
  assert.equal(bench.said.length, 4);
  assert.deepEqual(
    bench.world.log.of('chatbot.limited').map(({ fields }) => fields['perDay']),
    [4],
  );
  talks = false;
  await bench.pass(86_400_000);
  await bench.hear('good morning');
  await bench.pass(60_000);
  assert.equal(bench.said.length, 5);
});

test('chatbot: a failing service is retried with pauses, then left alone, and used again when it is back', async () => {
  const bench = await Bench.open();
  const { chatModels } = bench.world;
  chatModels.answer = () => ({ ok: false, error: 'the service answered 503', cause: 'busy' });
  await bench.hear('hi');
  await bench.pass(20_000);
  assert.deepEqual([bench.asked.length, bench.said], [3, []]);
  assert.deepEqual(
    bench.world.log.of('chatbot.notAnswered').map(({ fields }) => fields['reason']),
    ['the service answered 503'],
  );
  await bench.hear('hello?');
  await bench.pass(5_000);
  assert.equal(bench.asked.length, 3, 'the circuit is open');
  chatModels.answer = () => said('back');
  await bench.pass(60_000);
  await bench.hear('still there?');
  await bench.pass(4_000);
  assert.deepEqual(bench.said, ['back']);
});

test('chatbot: a service that rejects the key is not called again for the same question', async () => {
  const bench = await Bench.open();
  bench.world.chatModels.answer = () => ({ ok: false, error: 'the service does not take the key', cause: 'setup' });
  await bench.hear('hi');
  await bench.pass(60_000);
  assert.equal(bench.asked.length, 1);
});

test('chatbot: a call that takes too long is cancelled and retried', async () => {
  const bench = await Bench.open();
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(120_000, said('late'));
  await bench.hear('hi');
  await bench.pass(33_300);
  chatModels.answer = () => said('quick');
  await bench.pass(5_000);
  assert.deepEqual([bench.asked.length, bench.said], [2, ['quick']]);
});

test('chatbot: the number of calls at once is limited, and every contact is answered in the end', async () => {
  const bench = await Bench.open({ policy: { atOnce: { total: 4, perInstance: 2 } } });
  const { chatModels } = bench.world;
  chatModels.answer = chatModels.after(2_000, said('answer'));
  for (let n = 0; n < 5; n += 1) await bench.hear('hi', { chatId: `551199999000${n}@s.whatsapp.net` });
  await bench.pass(20_000);
  assert.deepEqual([chatModels.most, bench.said.length], [2, 5]);
});

test('chatbot: the number of conversations is limited, and one that has ended makes room', async () => {
  const bench = await Bench.open({ policy: { conversations: 2 } });
  const write = (n: number) => bench.hear('hi', { chatId: `551199999000${n}@s.whatsapp.net` });
  for (const n of [1, 2, 3]) await write(n);
  assert.equal(bench.world.log.of('chatbot.full').length, 1);
  await bench.pass(4_000);
  await write(4);
  await bench.pass(4_000);
  assert.equal(bench.said.length, 3);
});

test('chatbot: the tokens of a day are limited, also over a restart, and the count starts anew on the next day', async () => {
  const bench = await Bench.open({
    prepare: ({ chatbots, time }) => chatbots.usedTokens.set(`r1 ${new Date(time.now()).toISOString().slice(0, 10)}`, 9_995),
  });
  await bench.hear('hi');
  await bench.pass(4_000);
  await bench.hear('more');
  await bench.pass(4_000);
  assert.deepEqual([bench.said.length, bench.asked.length], [1, 1]);
  assert.equal(bench.world.log.of('chatbot.notAnswered')[0]?.fields['reason'], 'the tokens of the day are used up');
  await bench.pass(86_400_000);
  await bench.hear('good morning');
  await bench.pass(4_000);
  assert.equal(bench.said.length, 2);
});

test('chatbot: a trigger may have a longer wait than the pause, and a quick reply needs no model', async () => {
  const bench = await Bench.open({
    triggers: [{ type: 'quickReply', quickReplyId: 'q1', delaySeconds: 10 }],
    prepare: ({ db }) =>
      db.definitions.set('r1 quickReply q1', {
        of: 'quickReply',
        value: {
          id: 'q1',
          onPhone: false,
          shortcut: 'hi',
          type: 'text',
          text: 'We open at nine',
          file: '',
          docName: '',
          keywords: [],
          count: 0,
        },
        instanceId: 'r1',
        created: 0,
        updated: 0,
      }),
  });
  await bench.hear('hi');
  await bench.pass(9_000);
  assert.deepEqual(bench.said, []);
  await bench.pass(1_100);
  assert.deepEqual([bench.said, bench.asked.length], [['We open at nine'], 0]);
});

test('chatbot: the memory of a conversation is free a minute after its end', async () => {
  const bench = await Bench.open();
  await bench.pass(120_000);
  const { armed } = bench.world.time;
  await bench.hear('hi');
  await bench.pass(4_000);
  assert.ok(bench.world.time.armed > armed);
  await bench.pass(70_000);
  assert.equal(bench.world.time.armed, armed);
});
