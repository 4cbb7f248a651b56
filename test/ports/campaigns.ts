/** Tests the contract of every store of campaigns, and the journal's changes in it: the order of sends, the state of recipients, the counts. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { CampaignSend, Entry, RecipientState } from '#actors/model.ts';
import type { NewRecipient } from '#actors/ports.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { type Bench, benchOf, now, type Open, queued, sent, status } from './entries.ts';

const own: CampaignSend = { ...campaignSend, content: { kind: 'text', text: 'Only you', preview: null } };

const chatOf = (position: number): string => `551190000${String(position).padStart(4, '0')}@s.whatsapp.net`;
const recipients = (count: number): NewRecipient[] =>
  Array.from({ length: count }, (_, at) => ({ number: `55${at}`, chatId: chatOf(at), state: 'waiting', error: '', own: null }));

const facts = (id: string, change: object = {}) => ({
  id,
  info: `about ${id}`,
  scheduledFor: 100,
  delayMin: 1_000,
  delayMax: 2_000,
  created: 50,
  shared: campaignSend,
  ...change,
});

const messageOf = (campaign: string, position: number) =>
  sent({
    messageId: `${campaign}-${position}`,
    chatId: chatOf(position),
    sendFolderId: campaign,
    sendPosition: position,
    timestamp: 500 + position,
  });
const end = (campaignId: string, position: number, state: Exclude<RecipientState, 'sending'>, error = ''): Entry => ({
  kind: 'recipient',
  campaignId,
  position,
  state,
  error,
  at: 700,
});
const progress = (campaign: string, position: number, to: 'Sent' | 'Failed' | 'Delivered' | 'Read' | 'Played'): Entry =>
  status([`${campaign}-${position}`], to, { chatId: chatOf(position) });

class Campaigns {
  readonly bench: Bench;
  constructor(bench: Bench) {
    this.bench = bench;
  }
  get store() {
    return this.bench.stores.campaigns;
  }
  get claim() {
    return { instanceId: this.bench.record.id, epoch: this.bench.record.epoch };
  }
  make = (id: string, count = 3, change: object = {}) => this.store.create(this.claim, facts(id, change), recipients(count), null);
  next = async (at = 1_000, without: readonly string[] = []) => {
    const turn = await this.store.next(this.bench.record.id, at, without);
    return turn && `${turn.campaign.id} ${turn.recipient === null ? 'over' : turn.recipient.position}`;
  };
  states = async (campaignId: string) =>
    (await this.store.recipients(this.bench.record.id, { campaignId, states: null, limit: 100, offset: 0 })).map(({ state }) => state);
  counts = async (id: string) => {
    const campaign = await this.store.get(this.bench.record.id, id);
    assert.ok(campaign);
    const { sent: left, failed, skipped, unknown, delivered, read, played } = campaign;
    return [left, failed, skipped, unknown, delivered, read, played].join(' ');
  };
}

/**
 * Steps of one campaign, in order. Each step commits `entries`. The other fields are expected after the commit: the states of the recipients, the
 * counts in the order of `Campaigns.counts`, and the next recipient as `<campaign> <position>`, or `<campaign> over`.
 */
const steps: readonly (readonly [title: string, entries: readonly Entry[], states: string, counts: string, next: string])[] = [
  ['its first message is stored', [queued(messageOf('c1', 0))], 'sending waiting waiting waiting', '0 0 0 0 0 0 0', 'c1 1'],
  ['its frame did not leave: its turn comes again', [end('c1', 0, 'waiting')], 'waiting waiting waiting waiting', '0 0 0 0 0 0 0', 'c1 0'],
  [
    'a second message for it is stored, and leaves at once',
    [queued({ ...messageOf('c1', 0), messageId: 'c1-again' }), status(['c1-again'], 'Sent', { chatId: chatOf(0) })],
    'sent waiting waiting waiting',
    '1 0 0 0 0 0 0',
    'c1 1',
  ],
  [
    'no account, and one who wants none',
    [end('c1', 1, 'failed', 'nobody'), end('c1', 2, 'skipped', 'no')],
    'sent failed skipped waiting',
    '1 1 1 0 0 0 0',
    'c1 3',
  ],
  [
    'what is settled stays so',
    [end('c1', 1, 'unknown', 'later'), end('c1', 2, 'waiting')],
    'sent failed skipped waiting',
    '1 1 1 0 0 0 0',
    'c1 3',
  ],
  [
    'nobody knows',
    [queued(messageOf('c1', 3)), progress('c1', 3, 'Failed'), end('c1', 3, 'unknown', 'silence')],
    'sent failed skipped unknown',
    '1 1 1 1 0 0 0',
    'c1 over',
  ],
  ['a receipt shows that it was sent', [progress('c1', 3, 'Read')], 'sent failed skipped sent', '2 1 1 0 1 1 0', 'c1 over'],
  [
    'the same receipt again',
    [progress('c1', 3, 'Read'), progress('c1', 3, 'Delivered')],
    'sent failed skipped sent',
    '2 1 1 0 1 1 0',
    'c1 over',
  ],
  ['it was played', [progress('c1', 3, 'Played')], 'sent failed skipped sent', '2 1 1 0 1 1 1', 'c1 over'],
];

/** Cases that each use an instance of their own. */
const cases: readonly (readonly [title: string, run: (campaigns: Campaigns) => Promise<void>])[] = [
  [
    'campaigns whose time has come take turns; one that is scheduled comes when nothing else does',
    async (two) => {
      await two.make('a', 2, { created: 10 });
      await two.make('b', 2, { created: 20 });
      await two.make('z', 1, { scheduledFor: 5_000 });
      const turns: (string | null)[] = [];
      for (let at = 0; at < 4; at++) {
        const turn = (await two.next()) ?? '';
        turns.push(turn);
        const [campaign = '', position = ''] = turn.split(' ');
        await two.bench.commit({ ...end(campaign, Number(position), 'failed'), at: 100 + at } as Entry);
      }
      assert.deepEqual(turns, ['a 0', 'b 0', 'a 1', 'b 1']);
      assert.deepEqual([await two.next(1_000, ['a']), await two.next(1_000, ['a', 'b'])], ['b over', 'z 0']);
      for (const id of ['a', 'b']) await two.store.change(two.claim, id, ['waiting'], 'paused', 1);
      assert.deepEqual([await two.next(1_000), await two.next(5_000)], ['z 0', 'z 0']);
      assert.deepEqual(await two.store.active(two.bench.record.id), { campaigns: 1, waiting: 1 });
      assert.ok((await two.store.working()).includes(two.bench.record.id));
    },
  ],
  [
    'a campaign that was paused meanwhile is not marked by its runner',
    async (one) => {
      await one.make('p', 1);
      const campaign = await one.store.get(one.bench.record.id, 'p');
      assert.ok(campaign && (await one.store.change(one.claim, 'p', ['waiting', 'sending'], 'paused', 5)));
      await one.bench.commit({ kind: 'campaign', campaign, status: 'sending', reason: 'no', at: 800 });
      const after = await one.store.get(one.bench.record.id, 'p');
      assert.deepEqual([after?.status, after?.reason, after?.startedAt], ['paused', '', 0]);
      assert.equal(await one.store.change(one.claim, 'p', ['waiting'], 'paused', 5), 'paused');
      assert.equal(await one.store.change(one.claim, 'nobody', ['waiting'], 'paused', 5), null);
    },
  ],
  [
    'those who failed wait again in pieces once the campaign is paused or done, and those whose number names nobody do not',
    async (one) => {
      const [first, second, third] = recipients(3);
      assert.ok(first && second && third);
      const nobody: NewRecipient = { ...third, chatId: '', state: 'failed', error: 'no number' };
      await one.store.create(one.claim, facts('again'), [first, second, nobody], null);
      await one.bench.commit(end('again', 0, 'failed', 'no'), end('again', 1, 'failed', 'no'));
      assert.equal(await one.store.retry(one.claim, 'again', 800, 5), 0);
      const campaign = await one.store.get(one.bench.record.id, 'again');
      assert.ok(campaign);
      await one.bench.commit({ kind: 'campaign', campaign, status: 'done', reason: '', at: 900 });
      const pieces: number[] = [];
      for (let n = 0; n < 3; n++) pieces.push(await one.store.retry(one.claim, 'again', 950, 1));
      assert.deepEqual(
        [pieces, await one.states('again'), await one.counts('again')],
        [[1, 1, 0], ['waiting', 'waiting', 'failed'], '0 1 0 0 0 0 0'],
      );
      assert.equal(await one.store.change(one.claim, 'again', ['done'], 'waiting', 960), 'done');
      const after = await one.store.get(one.bench.record.id, 'again');
      assert.deepEqual([await one.next(), after?.finishedAt], ['again 0', 0]);
      await assert.rejects(one.store.retry({ ...one.claim, epoch: one.claim.epoch - 1 }, 'again', 970, 1), { name: 'EpochLost' });
    },
  ],
  [
    'changes at the same moment each say what they found, and one of them after the other counts',
    async (one) => {
      await one.make('t', 1);
      const toggles = Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0
          ? one.store.change(one.claim, 't', ['waiting', 'sending'], 'paused', 5)
          : one.store.change(one.claim, 't', ['paused'], 'waiting', 5),
      );
      const found = await Promise.all(toggles);
      assert.deepEqual([...new Set(found)].toSorted(), ['paused', 'waiting']);
      const after = (await one.store.get(one.bench.record.id, 't'))?.status;
      // In any order, each change found the status that the change before it left.
      const moves = found.map((status, at) => Number(status === 'waiting' && at % 2 === 0) - Number(status === 'paused' && at % 2 === 1));
      assert.equal(
        moves.reduce((sum, move) => sum + move, 0),
        after === 'paused' ? 1 : 0,
      );
    },
  ],
  [
    'after an interruption what was stored and not answered is unknown, unless a receipt came since',
    async (one) => {
      await one.make('s', 4);
      for (const at of [0, 1, 2]) await one.bench.commit(queued(messageOf('s', at)));
      await one.bench.commit(progress('s', 0, 'Delivered'));
      await one.store.settle(one.claim, 900);
      assert.deepEqual((await one.states('s')).join(' '), 'sent unknown unknown waiting');
      assert.equal(await one.counts('s'), '1 0 0 2 1 0 0');
      assert.equal(await one.next(), 's 3');
    },
  ],
  [
    'the messages of a day are counted, also those of campaigns that are gone',
    async (one) => {
      await one.make('d', 3);
      for (const at of [0, 1, 2]) await one.bench.commit(queued(messageOf('d', at)));
      const { id } = one.bench.record;
      assert.deepEqual(await one.store.removeAll(one.claim, null), { campaigns: 1, recipients: 3 });
      assert.deepEqual([await one.store.sentSince(id, 499), await one.store.sentSince(id, 500)], [3, 2]);
      assert.deepEqual(
        [await one.store.nthSent(id, 0, 1), await one.store.nthSent(id, 0, 3), await one.store.nthSent(id, 0, 4)],
        [502, 500, null],
      );
      assert.deepEqual([await one.store.get(id, 'd'), await one.store.list(id, null, 10), await one.next()], [null, [], null]);
    },
  ],
  [
    'lists are by age, done ones apart; those done for long are cleared',
    async (one) => {
      for (const [at, name] of ['x', 'y', 'z'].entries()) await one.make(name, 1, { created: at });
      const campaign = await one.store.get(one.bench.record.id, 'y');
      assert.ok(campaign);
      await one.bench.commit({ kind: 'campaign', campaign, status: 'done', reason: '', at: 900 });
      const names = async (isDone: boolean | null) => (await one.store.list(one.bench.record.id, isDone, 10)).map(({ id }) => id).join(' ');
      assert.deepEqual([await names(null), await names(true), await names(false)], ['z y x', 'y', 'z x']);
      assert.deepEqual(await one.store.removeAll(one.claim, 900), { campaigns: 0, recipients: 0 });
      assert.deepEqual(await one.store.removeAll(one.claim, 901), { campaigns: 1, recipients: 1 });
      assert.equal(await names(null), 'z x');
    },
  ],
  [
    'a message of its own comes before the one that all share; what can never be sent has failed from the beginning',
    async (one) => {
      const [first, second] = recipients(2);
      assert.ok(first && second);
      await one.store.create(
        one.claim,
        facts('o'),
        [
          { ...first, chatId: '', state: 'failed', error: 'no number' },
          { ...second, own },
        ],
        null,
      );
      const turn = await one.store.next(one.bench.record.id, 1_000, []);
      assert.deepEqual([turn?.recipient?.position, turn?.recipient?.send, turn?.campaign.failed, turn?.campaign.total], [1, own, 1, 2]);
    },
  ],
  [
    'contacts leave by a call or by their own word, under either address, and come back',
    async (one) => {
      const { optOuts } = one.bench.stores;
      const { id } = one.bench.record;
      await one.bench.commit({ kind: 'chat', chat: { chatId: chatOf(1), chatLid: '77@lid' }, create: true });
      await one.bench.commit({ kind: 'optOut', chatId: '77@lid', at: 5 }, { kind: 'optOut', chatId: '77@lid', at: 6 });
      assert.equal(await optOuts.add(one.claim, [chatOf(2), '77@lid'], 9), 1);
      assert.deepEqual(await Promise.all([1, 2, 3].map((at) => optOuts.has(id, [chatOf(at)]))), [true, true, false]);
      assert.deepEqual(await optOuts.list(id, 1, 1), { optOuts: [{ chatId: '77@lid', at: 5, by: 'contact' }], total: 2 });
      assert.equal(await optOuts.remove(one.claim, ['77@lid', 'nobody@lid']), 1);
      assert.equal(await optOuts.has(id, [chatOf(1)]), false);
    },
  ],
  [
    'the key of a client is stored with its campaign, with the answer, and in place of one that was used before',
    async (one) => {
      const { sendKeys } = one.bench.stores;
      const { id } = one.bench.record;
      for (const campaign of ['k', 'l']) {
        const answer = { ok: true, value: { id: campaign, count: 1, duplicates: 0, failed: 0 } } as const;
        const key = { hash: 'h', request: `of ${campaign}`, messageId: campaign, at: 7, answer };
        await one.store.create(one.claim, facts(campaign), recipients(1), key);
        assert.deepEqual(await sendKeys.find(id, 'h'), key);
      }
      const former = { ...one.claim, epoch: one.claim.epoch - 1 };
      const late = { hash: 'late', request: '', messageId: 'm', at: 7, answer: null };
      await assert.rejects(one.store.create(former, facts('m'), recipients(1), late), { name: 'EpochLost' });
      assert.deepEqual([await sendKeys.find(id, 'late'), await one.store.get(id, 'm')], [null, null]);
    },
  ],
  [
    'a former owner changes nothing',
    async (one) => {
      await one.make('e', 1);
      const former = { ...one.claim, epoch: one.claim.epoch - 1 };
      const attempts = [
        () => one.store.create(former, facts('f'), recipients(1), null),
        () => one.store.change(former, 'e', ['waiting'], 'paused', now),
        () => one.store.removeAll(former, null),
        () => one.store.settle(former, now),
        () => one.bench.stores.optOuts.add(former, ['1@lid'], now),
        () => one.bench.stores.optOuts.remove(former, ['1@lid']),
      ];
      for (const attempt of attempts) await assert.rejects(attempt, { name: 'EpochLost' });
      assert.equal(await one.next(), 'e 0');
    },
  ],
];

/** Reads recipients in pages after all steps. */
const goInPages = async (all: Campaigns): Promise<void> => {
  const page = async (states: readonly RecipientState[] | null, limit: number, offset: number) =>
    (await all.store.recipients(all.bench.record.id, { campaignId: 'c1', states, limit, offset })).map(({ position }) => position);
  assert.deepEqual(
    [await page(null, 2, 1), await page(['sent'], 5, 1), await page(['unknown'], 5, 0), await page(['sent', 'skipped'], 5, 0)],
    [[1, 2], [3], [], [0, 2, 3]],
  );
};

export const campaignSuite = (kind: string, open: Open): void => {
  describe(`campaigns, ${kind}`, () => {
    let all: Campaigns;
    before(async () => {
      all = new Campaigns(await benchOf(open, 'rcampaigns'));
      await all.make('c1', 4);
    });

    for (const [title, entries, states, counts, next] of steps)
      test(title, async () => {
        await all.bench.commit(...entries);
        assert.deepEqual([(await all.states('c1')).join(' '), await all.counts('c1'), await all.next()], [states, counts, next]);
      });

    test('a recipient comes with its message, with what it will get, and with why it failed', async () => {
      const [first, second] = await all.store.recipients(all.bench.record.id, {
        campaignId: 'c1',
        states: ['sent', 'failed'],
        limit: 2,
        offset: 0,
      });
      assert.deepEqual(
        [first?.position, first?.messageId, first?.message?.status, first?.message?.sendFolderId],
        [0, 'c1-again', 'Sent', 'c1'],
      );
      assert.deepEqual([second?.position, second?.error, second?.message, second?.number], [1, 'nobody', null, '551']);
      assert.deepEqual(second?.send, campaignSend);
    });

    test('pages and filters go by the order of sending', () => goInPages(all));

    test('a campaign begins and ends with an event each, and keeps when that was', async () => {
      const campaign = await all.store.get(all.bench.record.id, 'c1');
      assert.ok(campaign);
      const began = await all.bench.commit({ kind: 'campaign', campaign, status: 'sending', reason: '', at: 800 });
      const ended = await all.bench.commit({ kind: 'campaign', campaign, status: 'done', reason: '', at: 900 });
      assert.deepEqual(
        [...began.events, ...ended.events].map(({ type, payload }) => [
          type,
          payload['status'],
          payload['sentCount'],
          payload['folder_id'],
        ]),
        [
          ['sender', 'sending', 2, 'c1'],
          ['sender', 'done', 2, 'c1'],
        ],
      );
      const after = await all.store.get(all.bench.record.id, 'c1');
      assert.deepEqual([after?.status, after?.startedAt, after?.finishedAt, after?.updated], ['done', 800, 900, 1_000]);
      assert.equal(await all.next(), null);
    });

    for (const [at, [title, run]] of cases.entries())
      test(title, async () => run(new Campaigns(await benchOf(async () => all.bench.stores, `rcampaigns${at}`))));
  });
};
