/** Tests own polls as phones of contacts show them, and the recorded votes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AnswerOf, InputOf, OperationName, Outcome } from '#actors/ports.ts';
import type { Message, PollContent, Send } from '#actors/model.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000901';
const friend = '5511900000902';
const other = '5511900000903';

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
});
after(() => bench.stop());

const performed = <N extends OperationName>(name: N, input: InputOf<N>): Promise<Outcome<AnswerOf<N>>> =>
  instance.link.perform({ name, input }, { signal: new AbortController().signal, deadline: Date.now() + 60_000 });

const pollTo = (number: string, change: Partial<PollContent> = {}): Send => ({
  number,
  replyTo: '',
  mentions: [],
  forward: false,
  content: { kind: 'poll', question: 'When?', options: ['now', 'later', 'never'], selectable: 1, ...change },
});

const transmitted = async (message: Message): Promise<Message> => {
  const sent = await performed('message.transmit', { message });
  assert.ok(sent.ok, sent.ok ? '' : sent.refusal.message);
  instance.entries.add({ kind: 'queued', message, chat: { chatId: message.chatId } });
  return message;
};

const sent = async (send: Send): Promise<Message> => {
  const composed = await performed('message.compose', { send, draft: null });
  assert.ok(composed.ok, composed.ok ? '' : composed.refusal.message);
  return transmitted(composed.value);
};

const receivedBy = (number: string, id: string) => bench.running.sandbox.received(number).find((message) => message.id === id);

/** Returns the vote as the gateway records it. */
const voteOf = async (from: string, to: string, messageId: string, options: readonly string[], addressing: 'pn' | 'lid' = 'pn') => {
  const { id } = await bench.running.sandbox.send(from, to, { kind: 'pollVote', messageId, options }, { addressing });
  const { vote, quoted, type } = await instance.message((message) => message.messageId === id, 'the vote');
  return { vote, quoted, type };
};

test('polls: one of a single answer and one of several are shown, each in its form', async () => {
  for (const [selectable, kind] of [
    [1, 'pollCreationMessageV3'],
    [0, 'pollCreationMessage'],
    [2, 'pollCreationMessage'],
  ] as const) {
    const message = await sent(pollTo(friend, { selectable }));
    assert.deepEqual([message.type, message.text, message.convertOptions], ['poll', 'When?', 'now|later|never']);
    const received = receivedBy(friend, message.messageId);
    assert.deepEqual([received?.kind, received?.text, received?.hidden], [kind, 'When?', undefined]);
  }
});

for (const addressing of ['pn', 'lid'] as const) {
  test(`polls: a contact that speaks by ${addressing} votes, changes its mind, and takes it back`, async () => {
    const { messageId } = await sent(pollTo(friend, { selectable: 2 }));
    const votes = [['later'], ['now', 'never'], []];
    for (const options of votes) {
      assert.deepEqual(await voteOf(friend, own, messageId, options, addressing), {
        vote: options.join('|'),
        quoted: messageId,
        type: 'poll',
      });
    }
  });

  test(`polls: a member of a group that speaks by ${addressing} votes`, async () => {
    const group = await bench.running.sandbox.createGroup({ subject: 'Poll', creator: friend, participants: [own, other], addressing });
    const { messageId } = await sent(pollTo(group.jid));
    for (const member of [friend, other]) {
      assert.equal(receivedBy(member, messageId)?.hidden, undefined);
      assert.deepEqual(await voteOf(member, group.jid, messageId, ['later']), { vote: 'later', quoted: messageId, type: 'poll' });
    }
  });
}

test('polls: one that was drafted without a connection has the secret of its votes', async () => {
  const draft = bench.instance().link.draft(pollTo(friend), { jid: `${own}:3@s.whatsapp.net`, lid: '', name: 'Me' });
  assert.ok(draft.ok && draft.value.raw !== null);
  const { messageId } = await transmitted(draft.value);
  assert.equal((await voteOf(friend, own, messageId, ['never'])).vote, 'never');
});
