/** Tests the stores of deliveries, webhooks and removals with one suite, on the fakes and on PostgreSQL. */
import assert from 'node:assert/strict';
import { deliveryStates, eventTypes, type Delivery, type DeliveryState, type EventType } from '#actors/model.ts';
import { webhook as sample } from '#test/contract/samples.ts';
import { randomOf } from '#test/support/random.ts';
import { removeRows } from '#test/support/removals.ts';
import { anything, both, bytes, claimed, ended, most, DeliveryScene } from './delivery-scene.ts';

both('outbox: rows wait in order, are parked, fall due and go', async (at) => {
  const { outbox } = at.stores;
  const [a, b, c] = await at.commit(['messages', 'messages', 'presence']);
  const seqs = async (now: number): Promise<readonly number[]> => (await at.due(now)).map(({ seq }) => seq);
  assert.deepEqual(await at.due(), [a, b, c]);
  assert.equal(await outbox.nextDue(at.hook, at.id), null);
  await outbox.postpone(claimed(a!), 5_000, { attempts: 3, status: 502, error: 'bad' });
  assert.deepEqual(await seqs(4_999), []);
  assert.deepEqual(await seqs(5_000), [a!.seq, b!.seq, c!.seq]);
  assert.equal(await outbox.nextDue(at.hook, at.id), 5_000);
  assert.deepEqual((await at.due(5_000))[0], { ...a, attempts: 3, notBefore: 5_000 });
  await outbox.postpone(claimed(b!), 4_000, { attempts: 4, status: 0, error: 'no' });
  assert.deepEqual(await seqs(4_500), []);
  assert.equal(await outbox.nextDue(at.hook, at.id), 4_000);
  await outbox.remove([]);
  await outbox.remove([claimed(a!), claimed(b!)]);
  await outbox.archive([]);
  await outbox.archive([ended(c!)]);
  assert.deepEqual([await at.due(9_000), await outbox.nextDue(at.hook, at.id)], [[], null]);
});

both('outbox: a page is bounded by rows and by bytes, has one row in any case, and says whether others are due', async (at) => {
  const { outbox } = at.stores;
  const rows = await at.commit(['messages', 'messages', 'messages', 'messages']);
  await outbox.postpone(claimed(rows[3]!), 5_000, { attempts: 3, status: 0, error: '' });
  const page = async (now: number, rowsMost: number, bytesMost: number): Promise<string> => {
    const found = await outbox.due(at.hook, at.id, now, { rows: rowsMost, bytes: bytesMost });
    return `${found.rows.map(({ seq }) => rows.findIndex((row) => row.seq === seq)).join('')} ${found.more}`;
  };
  const cases: readonly (readonly [now: number, rows: number, bytes: number, expected: string])[] = [
    [0, 10, 1e9, '012 false'],
    [0, 3, 1e9, '012 false'],
    [0, 2, 1e9, '01 true'],
    [5_000, 3, 1e9, '012 true'],
    [5_000, 4, 1e9, '0123 false'],
    [0, 10, 3 * bytes, '012 false'],
    [0, 10, 3 * bytes - 1, '01 true'],
    [0, 10, 1, '0 true'],
  ];
  for (const [now, rowsMost, bytesMost, expected] of cases) assert.equal(await page(now, rowsMost, bytesMost), expected);
  const other = await outbox.due(at.hook, 'another', 9_000, most);
  assert.deepEqual(other, { rows: [], held: [], more: false });
});

both('outbox: a row says how many bytes its body has, when it is committed and when it is read', async (at) => {
  const committed = await at.commit(['messages'], [at.hook], 'привет');
  for (const { body, size } of [...committed, ...(await at.due())]) assert.deepEqual([body, size], ['{"text":"привет"}', 23]);
  assert.deepEqual([committed.length, (await at.due()).length], [1, 1]);
});

both('outbox: rows behind a parked row of their lane are held until its time, on every page and in any pieces', async (at) => {
  const { outbox } = at.stores;
  const rows = await at.commit(Array.from({ length: 8 }, () => 'messages' as const));
  const read = (now: number, size: number) => outbox.due(at.hook, at.id, now, { rows: size, bytes: 1e9 });
  const place = (seq: number): number => rows.findIndex((row) => row.seq === seq);
  const page = async (now: number, size: number): Promise<string> => {
    const found = await read(now, size);
    return [...found.rows.map(({ seq }) => place(seq)), ...found.held.map(({ seq, until }) => `${place(seq)}@${until}`), found.more].join(
      ' ',
    );
  };
  const hold = async (now: number, size: number): Promise<void> =>
    outbox.hold((await read(now, size)).held.map((row) => ({ ...row, instanceId: at.id, epoch: 1 })));
  await outbox.postpone(claimed(rows[2]!), 5_000, { attempts: 3, status: 500, error: '' });
  assert.equal(await page(1_000, 4), '0 1 3@5000 4@5000 true');
  await hold(1_000, 4);
  assert.equal(await page(1_000, 4), '0 1 5@5000 6@5000 true');
  await hold(1_000, 10);
  assert.deepEqual([await outbox.heldLanes(at.hook, at.id, 1_000, 10), await outbox.heldLanes(at.hook, at.id, 5_000, 10)], [['l'], []]);
  await outbox.remove([claimed(rows[0]!), claimed(rows[1]!)]);
  await outbox.postpone(claimed(rows[2]!), 9_000, { attempts: 4, status: 500, error: '' });
  assert.equal(await page(6_000, 2), '3@9000 4@9000 true');
  for (let n = 0; n < 3; n += 1) await hold(6_000, 2);
  assert.equal(await page(6_000, 2), 'false');
  assert.equal(await page(9e15, 3), '2 3 4 true');
  const [tally] = await at.stores.deliveries.tally([at.hook]);
  assert.deepEqual([tally?.waiting, tally?.parked], [0, 6]);
});

both('outbox: the pairs that have rows are known, waiting and parked ones, until their webhook is gone', async (at, side) => {
  const other = await DeliveryScene.make(side);
  await other.commit(['messages'], [other.hook, at.hook]);
  const [row] = await at.commit(['messages']);
  await at.stores.outbox.postpone(claimed(row!), 5_000, { attempts: 3, status: 0, error: '' });
  const pairs = async (): Promise<readonly string[]> =>
    (await at.stores.outbox.pending())
      .filter(({ webhookId }) => webhookId === at.hook || webhookId === other.hook)
      .map(({ webhookId, instanceId }) => `${webhookId} ${instanceId}`)
      .toSorted();
  assert.deepEqual(await pairs(), [`${at.hook} ${at.id}`, `${at.hook} ${other.id}`, `${other.hook} ${other.id}`].toSorted());
  await at.stores.webhooks.remove({ id: at.hook, instanceId: at.id }, 1);
  assert.deepEqual(await pairs(), [`${other.hook} ${other.id}`]);
});

both('deliveries: are listed newest first with their state, page by page', async (at) => {
  const { outbox, deliveries } = at.stores;
  const [, b, c, d] = await at.commit(['messages', 'presence', 'chats', 'groups']);
  await outbox.postpone(claimed(b!), 9_000, { attempts: 3, status: 503, error: 'unavailable' });
  await outbox.archive([ended(c!, true), ended(d!)]);
  assert.deepEqual(await at.states(), ['delivered groups', 'dead chats', 'parked presence', 'waiting messages']);
  const expected = { waiting: 'messages', parked: 'presence', dead: 'chats', delivered: 'groups' };
  for (const state of deliveryStates) assert.deepEqual(await at.states(state), [`${state} ${expected[state]}`]);
  const page = await deliveries.list({ webhooks: [at.hook], state: null, limit: 2, offset: 1 });
  assert.deepEqual([page.deliveries.map(({ type }) => type), page.more], [['chats', 'presence'], true]);
  const [dead, parked] = page.deliveries;
  assert.partialDeepStrictEqual(dead, { eventId: c?.eventId, attempts: 11, status: 502, error: 'bad gateway', endedAt: 77, notBefore: 0 });
  assert.partialDeepStrictEqual(parked, {
    attempts: 3,
    status: 503,
    error: 'unavailable',
    notBefore: 9_000,
    endedAt: 0,
    instanceId: at.id,
  });
  assert.deepEqual((await deliveries.list({ webhooks: [], state: null, limit: 9, offset: 0 })).deliveries, []);
});

both('deliveries: what is sent again keeps its event, comes last and has all attempts before it', async (at) => {
  const { outbox, deliveries } = at.stores;
  const [a, b, c] = await at.commit(['messages', 'messages', 'presence']);
  await outbox.archive([ended(a!, true), ended(b!)]);
  await outbox.postpone(claimed(c!), 9_000_000, { attempts: 4, status: 0, error: 'no' });
  const replayed = await deliveries.replay({ ...anything, webhook: at.hook, states: ['dead', 'delivered'] });
  assert.deepEqual(replayed, [{ instanceId: at.id, count: 2 }]);
  const rows = await at.due(1e12);
  assert.deepEqual(
    rows.map(({ seq: _seq, ...row }) => row),
    [
      { ...c, attempts: 4, notBefore: 9_000_000 },
      { ...a, attempts: 0 },
      { ...b, attempts: 0 },
    ].map(({ seq: _seq, ...row }) => row),
  );
  assert.ok(rows[1]!.seq > c!.seq);
  await deliveries.replay({ ...anything, webhook: at.hook });
  const [hastened] = await at.due();
  assert.deepEqual([hastened?.eventId, hastened?.attempts], [c?.eventId, 0]);
});

both('deliveries: a replay is chosen by id, type, time and number, oldest first', async (at) => {
  const rows = await at.commit(['messages', 'presence', 'messages', 'chats', 'messages']);
  const times = rows.map((row) => row.at);
  const back = async (query: object): Promise<string> => {
    await at.stores.outbox.archive((await at.due()).map((row) => ended(row)));
    await at.stores.deliveries.replay({ ...anything, webhook: at.hook, ...query });
    return (await at.due()).map(({ eventId }) => rows.findIndex((row) => row.eventId === eventId)).join(' ');
  };
  assert.equal(await back({ events: [rows[1]!.eventId, rows[3]!.eventId, 'unknown'] }), '1 3');
  assert.equal(await back({ types: ['messages'] }), '0 2 4');
  assert.equal(await back({ from: times[1], to: times[3] }), '1 2 3');
  assert.equal(await back({ limit: 2 }), '0 1');
  assert.equal(await back({ states: ['dead'] }), '');
  assert.equal(await back({ states: ['waiting'] }), '');
});

const nothing = { rows: 0, bytes: 0, before: 0 };

both('deliveries: the oldest of some types are dropped, by number, bytes and age', async (at) => {
  const { deliveries } = at.stores;
  const rows = await at.commit(['messages', 'presence', 'chats', 'presence', 'messages', 'chats']);
  const trim = (types: readonly EventType[], excess: Partial<typeof nothing>) => deliveries.trim(at.hook, types, { ...nothing, ...excess });
  assert.deepEqual(await trim(eventTypes, {}), {});
  assert.deepEqual(await trim(['presence', 'chats'], { rows: 3 }), { presence: 2, chats: 1 });
  assert.deepEqual(await at.states(), ['waiting chats', 'waiting messages', 'waiting messages']);
  assert.deepEqual(await trim(['presence'], { rows: 3 }), {});
  assert.deepEqual(await trim(['messages', 'chats'], { bytes: bytes + 1 }), { messages: 2 });
  await at.commit(['messages']);
  assert.deepEqual(await trim(eventTypes, { before: rows[5]!.at + 1 }), { chats: 1 });
  assert.deepEqual(await at.states(), ['waiting messages']);
});

both('deliveries: a parked one is dropped like one that waits', async (at) => {
  const [row] = await at.commit(['messages', 'chats']);
  await at.stores.outbox.postpone(claimed(row!), 9_000, { attempts: 3, status: 0, error: '' });
  assert.deepEqual(await at.stores.deliveries.trim(at.hook, eventTypes, { ...nothing, rows: 1 }), { messages: 1 });
  assert.deepEqual(await at.states(), ['waiting chats']);
});

both('deliveries: the oldest past ones are forgotten, by number and age, each kind and webhook for itself', async (at, side) => {
  const other = await DeliveryScene.make(side);
  const { outbox, deliveries } = at.stores;
  const rows = await at.commit(['messages', 'messages', 'messages', 'presence', 'presence', 'chats']);
  await outbox.archive(rows.map((row, n) => ended(row, n < 3)));
  await outbox.archive((await other.commit(['messages'])).map((row) => ended(row)));
  assert.equal(await deliveries.forget(at.hook, true, { rows: 0, before: 0 }), 0);
  assert.equal(await deliveries.forget(at.hook, true, { rows: 1, before: 0 }), 1);
  assert.equal(await deliveries.forget(at.hook, false, { rows: 0, before: rows[4]!.at }), 1);
  assert.deepEqual(await at.states(), ['delivered chats', 'delivered presence', 'dead messages', 'dead messages']);
  assert.equal(await deliveries.forget(at.hook, true, { rows: 9, before: 0 }), 2);
  assert.deepEqual(await other.states(), ['delivered messages']);
});

both('deliveries: what is over goes in pieces, until nothing is over', async (at) => {
  const { outbox, deliveries } = at.stores;
  const rows = await at.commit(Array.from({ length: 24 }, () => 'messages' as const));
  await outbox.archive(rows.slice(12).map((row) => ended(row)));
  const counted = async (piece: () => Promise<number>): Promise<number> => {
    let sum = 0;
    for (let gone = await piece(); gone > 0; gone = await piece()) sum += gone;
    return sum;
  };
  const before = rows[23]!.at;
  assert.equal(await counted(async () => (await deliveries.trim(at.hook, eventTypes, { ...nothing, before }))['messages'] ?? 0), 12);
  assert.equal(await counted(() => deliveries.forget(at.hook, false, { rows: 0, before })), 11);
});

both('deliveries: they go with their webhook and their instance, from the global webhook too', async (at, side) => {
  const other = await DeliveryScene.make(side);
  const shared = `global ${at.id}`;
  const { webhooks, instances, removals, outbox, deliveries } = at.stores;
  await webhooks.save({ ...sample, id: shared, instanceId: null }, 0);
  const all: Delivery[] = [];
  for (const scene of [at, other]) all.push(...(await scene.commit(['chats', 'groups'], [shared, scene.hook])));
  await outbox.archive(all.filter(({ type }) => type === 'chats').map((row, n) => ended(row, n === 0)));
  assert.equal((await at.states(null, shared)).length, 4);
  const counts = async () => [(await at.states(null, shared)).length, (await at.states()).length, (await other.states()).length];
  await instances.remove(at.id, 1);
  await removeRows(removals);
  assert.deepEqual(await counts(), [2, 0, 2]);
  const [tally] = await deliveries.tally([shared]);
  assert.deepEqual({ ...tally }, { webhookId: shared, waiting: 1, parked: 0, bytes, delivered: 1, dead: 0 });
  await webhooks.remove({ id: other.hook, instanceId: other.id }, 1);
  await removeRows(removals);
  assert.deepEqual(await counts(), [2, 0, 0]);
  await outbox.archive([ended(all[0]!)]);
  assert.deepEqual(await counts(), [2, 0, 0], 'a row that is gone is not archived');
  assert.deepEqual(
    (await instances.all()).filter(({ id }) => id === at.id),
    [],
  );
});

both('deliveries: the tally is what a count would find, whatever happens', async (at, side) => {
  const { outbox, deliveries, webhooks } = at.stores;
  const shared = `shared ${at.id}`;
  const other = await DeliveryScene.make(side);
  await webhooks.save({ ...sample, id: shared, instanceId: null }, 0);
  const random = randomOf(7);
  const some = <T>(all: readonly T[]): readonly T[] => all.filter(() => random() < 0.4);
  const rowsOf = async (): Promise<readonly Delivery[]> => (await outbox.due(shared, at.id, 1e12, most)).rows;
  const steps: readonly (() => Promise<unknown>)[] = [
    () => at.commit(['messages', 'presence', 'chats'], [shared], 'x'.repeat(Math.floor(random() * 50))),
    () => other.commit(['messages'], [shared, other.hook], 'x'.repeat(5)),
    async () => outbox.remove(some(await rowsOf()).map(claimed)),
    async () => outbox.archive(some(await rowsOf()).map((row) => ended(row, random() < 0.5))),
    async () => {
      for (const row of some(await rowsOf())) await outbox.postpone(claimed(row), 1_000, { attempts: 3, status: 0, error: '' });
    },
    () => deliveries.replay({ ...anything, webhook: shared, states: some(['parked', 'dead', 'delivered']), limit: 2 }),
    () => deliveries.trim(shared, ['presence', 'chats'], { ...nothing, rows: 2 }),
    () => deliveries.forget(shared, random() < 0.5, { rows: 1, before: 0 }),
    () => deliveries.foldTallies(),
  ];
  for (let step = 0; step < 120; step += 1) {
    await steps[Math.floor(random() * steps.length)]?.();
    const found = (await deliveries.list({ webhooks: [shared], state: null, limit: 1000, offset: 0 })).deliveries;
    const count = (state: DeliveryState): number => found.filter((one) => one.state === state).length;
    const waiting = [...(await rowsOf()), ...(await outbox.due(shared, other.id, 1e12, most)).rows];
    const expected = {
      webhookId: shared,
      ...Object.fromEntries(deliveryStates.map((state) => [state, count(state)])),
      bytes: waiting.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0),
    };
    const [tally = { webhookId: shared, waiting: 0, parked: 0, bytes: 0, delivered: 0, dead: 0 }] = await deliveries.tally([shared]);
    assert.deepEqual({ ...tally }, expected, `after step ${step}`);
    const all = (await deliveries.tally(null)).find(({ webhookId }) => webhookId === shared);
    assert.deepEqual(all === undefined ? found.length : { ...all }, all === undefined ? 0 : expected);
  }
});

both('webhooks: are stored, changed, and gone when they are removed', async (at) => {
  const { webhooks } = at.stores;
  const saved = {
    ...sample,
    id: at.hook,
    instanceId: at.id,
    url: 'https://example.com/new',
    secret: 'whsec_x',
    headers: { a: 'b' },
    events: ['call'],
  };
  const found = async () => (await webhooks.all()).filter(({ id }) => id === at.hook);
  await webhooks.save(saved, 1);
  assert.deepEqual(await found(), [saved]);
  await webhooks.save({ ...saved, secret: '', headers: {}, enabled: false }, 1);
  assert.deepEqual(await found(), [{ ...saved, secret: '', headers: {}, enabled: false }]);
  await webhooks.save(saved, 1);
  await webhooks.disable({ ...saved, url: sample.url }, 1);
  assert.deepEqual(await found(), [saved]);
  await webhooks.disable(saved, 1);
  assert.deepEqual(await found(), [{ ...saved, enabled: false }]);
  await webhooks.remove({ id: at.hook, instanceId: at.id }, 1);
  await webhooks.remove({ id: 'unknown', instanceId: at.id }, 1);
  assert.deepEqual(await found(), []);
});

both('removals: what was removed is known until its last row is gone; its webhooks are gone at once', async (at) => {
  const { instances, webhooks, removals } = at.stores;
  await at.commit(['messages', 'chats']);
  const pending = async () => (await removals.pending()).filter(({ id }) => id === at.id || id === at.hook);
  assert.deepEqual(await pending(), []);
  await instances.remove(at.id, 1);
  assert.deepEqual(
    (await webhooks.all()).filter(({ id }) => id === at.hook),
    [],
  );
  assert.ok((await pending()).length > 0);
  assert.equal((await at.states()).length, 2, 'the rows are left to the pieces');
  for (let pieces = 0; pieces < 100 && (await removals.removePiece({ kind: 'instance', id: at.id })); pieces += 1);
  await removeRows(removals);
  assert.deepEqual([await pending(), await at.states()], [[], []]);
  for (let pieces = 0; await removals.removePiece({ kind: 'instance', id: at.id }); pieces += 1)
    assert.ok(pieces < 100, 'again is harmless');
});
