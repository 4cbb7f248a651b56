/** Tests messages of Chatwoot agents that crash the process. Their tries are counted before they begin, so that such a message is set aside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse, type ChatwootReply } from '#actors/model.ts';
import { untold } from '#actors/chatwoot/conversations.ts';
import { Replies } from '#actors/chatwoot/replies.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { UnderWay } from '#actors/waiting.ts';
import { FakeChatwootRows } from '#test/fakes/chatwoot.ts';
import { FakeLog, FakeTime, settle } from '#test/fakes/time.ts';
import { webhook } from '#test/contract/samples.ts';

const contact = { id: 1, name: 'Ana', identifier: '', phone: '+5511988880001', sourceId: 's1' };
const news = {
  kind: 'message',
  accountId: 1,
  inboxId: 1,
  conversationId: 7,
  id: 9,
  sourceId: '',
  text: 'deadly',
  agent: '',
  files: [],
  replyTo: 0,
  contact,
} as const;

/** The stored row of one waiting message, and processes that work on it. */
class Desk {
  readonly time = new FakeTime();
  readonly reports: string[] = [];
  sends = 0;
  /** False while another process owns the instance. */
  isHere = true;
  readonly #webhook = { ...webhook, chatwoot: { accountId: 1, inboxId: 1, accessToken: '', hook: '' } as never };
  /** Called between the read of a row and the begin of its attempt. */
  beforeBegin = (): void => undefined;
  row: ChatwootReply | null = {
    seq: 1,
    instanceId: 'r1',
    inbox: 'a',
    news,
    at: this.time.now(),
    notBefore: 0,
    attempts: 0,
    begun: 0,
    failure: '',
    refused: [],
  };
  readonly rows = Object.assign(new FakeChatwootRows(), {
    replies: async () => (this.row === null ? [] : [this.row]),
    beginReply: async (_: unknown, { begun }: { begun: number }) => {
      this.beforeBegin();
      if (this.row?.failure !== '') return false;
      this.#change({ begun });
      return true;
    },
    postponeReply: async (_: unknown, change: Partial<ChatwootReply>) => this.#change({ ...change, begun: 0 }),
    removeReply: async () => void (this.row = null),
  });

  #change(change: Partial<ChatwootReply>): undefined {
    if (this.row !== null) this.row = { ...this.row, ...change };
  }

  /**
   * Runs a process until it has nothing more to do. `end` is the outcome of its send; a send that never ends stands for a killed process. `then` goes on with
   * the process.
   */
  async process(end: () => Promise<never>, ms = 0, then: (replies: Replies) => Promise<void> = async () => undefined): Promise<void> {
    const { time } = this;
    const log = new FakeLog();
    const policy = { reconnect: { min: 1000, max: 1000, cutEvery: 0, stable: 0 }, crash: { limit: 3, window: 60_000, cooldown: 1 } };
    const inbox = { claim: { instanceId: 'r1', epoch: 1 }, inbox: 'a', newConversations: false } as never;
    const replies = new Replies({
      ports: { chatwootRows: this.rows, time, log },
      policy: { fileBytes: 1, keep: 1, replyWait: 600_000, waiting: 10, atOnce: 1, atOncePerInstance: 1 },
      workers: new SupervisedWorkers({ time, log, policy, random: () => 1, fields: {} }),
      connector: {
        inboxOf: () => inbox,
        inboxNamed: () => inbox,
        showFailed: async (_, __, { reason }) => {
          this.reports.push(reason);
          return { ok: true, value: null };
        },
      },
      underWay: new UnderWay(time),
      webhook: () => (this.isHere ? this.#webhook : null),
      connected: () => ['r1'],
      send: () => {
        this.sends += 1;
        return end();
      },
      account: () => ({ owner: '', lid: '' }),
      remove: () => Promise.reject(new Error('nothing is deleted here')),
    });
    replies.wake();
    await settle();
    await time.pass(ms);
    await then(replies);
    replies.stop();
  }
}

const sent = async (): Promise<never> => ({ ok: true, value: { messageId: 'm1', chatId: '5511988880001@s.whatsapp.net' } }) as never;
const killed = (): Promise<never> => new Promise(() => undefined);

test('replies: a message that crashes the process five times in a row is set aside, and shown as failed', async () => {
  const desk = new Desk();
  for (let process = 1; process <= 5; process += 1) {
    await desk.process(killed);
    assert.deepEqual([desk.sends, desk.row?.begun], [process, process]);
  }
  await desk.process(killed);
  assert.equal(desk.sends, 5);
  assert.deepEqual(desk.reports, ['the message could not be sent: the process ended during every attempt']);
  assert.equal(desk.row, null);
});

test('replies: tries that end with a storage error do not count', async () => {
  const desk = new Desk();
  await desk.process(() => Promise.reject(new StorageUnavailable('away')), 60_000);
  assert.ok(desk.sends > 10, `${desk.sends} tries`);
  assert.deepEqual([desk.row?.begun, desk.reports], [1, []]);
});

test('replies: a waiting message is retried within a minute after the clock was set back by an hour', async () => {
  const desk = new Desk();
  const refused = async () => refuse('notSent', 'the session is away') as never;
  await desk.process(refused, 100);
  assert.equal(desk.sends, 1);
  desk.time.stepWall(-3_600_000);
  await desk.process(refused, 60_000);
  assert.ok(desk.sends > 1, `${desk.sends} tries`);
});

test('replies: a message that failed after it was read, because another account was paired, is not sent', async () => {
  const desk = new Desk();
  desk.beforeBegin = () => {
    if (desk.row !== null) desk.row = { ...desk.row, failure: 'another account was paired' };
  };
  await desk.process(killed);
  assert.equal(desk.sends, 0);
  assert.deepEqual([desk.reports, desk.row], [['another account was paired'], null]);
});

test('replies: the chat of a conversation that an agent began has no name and no picture of the platform yet', async () => {
  const desk = new Desk();
  await desk.process(sent);
  const chat = { chatId: '5511988880001@s.whatsapp.net', contactId: 1, sourceId: 's1', conversationId: 7 };
  assert.deepEqual([...desk.rows.chats.values()], [{ ...chat, ...untold }]);
});

test('replies: attempts that another process began count after the instance has come back', async () => {
  const desk = new Desk();
  const away = () => Promise.reject(new StorageUnavailable('away'));
  await desk.process(away, 2_000, async (replies) => {
    desk.isHere = false;
    replies.wake();
    await desk.time.pass(10_000);
    if (desk.row !== null) desk.row = { ...desk.row, begun: 5 };
    desk.isHere = true;
    replies.wake();
    await settle();
  });
  assert.deepEqual(desk.reports, ['the message could not be sent: the process ended during every attempt']);
});
