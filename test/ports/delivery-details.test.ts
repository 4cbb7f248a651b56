/** Tests one delivery in full, and the list of a period, on the fakes and on PostgreSQL. */
import assert from 'node:assert/strict';
import { anything, both, claimed, ended, text } from './delivery-scene.ts';

both('deliveries: one is found with its body and its attempts, in every state, and a replay keeps the attempts', async (at) => {
  const { outbox, deliveries } = at.stores;
  const [row, other] = await at.commit(['messages', 'messages']);
  const refused = { at: 5, ms: 7, status: 503, error: 'out of order', answer: 'é \u0000 "later"' };
  const [taken, unanswered] = [
    { at: 9, ms: 2, status: 200, error: '' },
    { at: 6, ms: 10_000, status: 0, error: 'no answer' },
  ];
  const shown = async () => {
    const found = await deliveries.find([at.hook], row!.eventId);
    return found && [found.state, found.body, found.attempts, found.tries];
  };
  assert.deepEqual(await shown(), ['waiting', text, 0, undefined]);
  await outbox.postpone(claimed(row!), 5_000, { attempts: 1, status: 503, error: 'out of order', tries: [refused] });
  assert.deepEqual(await shown(), ['parked', text, 1, [refused]]);
  assert.deepEqual((await at.due(5_000))[0]?.tries, [refused]);
  await outbox.archive([ended(row!, true, { tries: [refused, unanswered] }), ended(other!)]);
  assert.deepEqual(await shown(), ['dead', text, 11, [refused, unanswered]]);
  await deliveries.replay({ ...anything, webhook: at.hook, events: [row!.eventId] });
  assert.deepEqual(await shown(), ['waiting', text, 0, [refused, unanswered]]);
  const [again] = await at.due();
  await outbox.archive([ended(again!, false, { tries: [refused, unanswered, taken] })]);
  assert.deepEqual(await shown(), ['delivered', text, 1, [refused, unanswered, taken]]);
  assert.equal((await deliveries.find([at.hook], other!.eventId))?.tries, undefined);
  assert.equal(await deliveries.find([at.hook], 'unknown'), null);
  assert.equal(await deliveries.find(['another'], row!.eventId), null);
});

both('deliveries: a list can be cut by the time of the events, both ends included', async (at) => {
  const rows = await at.commit(['messages', 'presence', 'messages', 'chats']);
  await at.stores.outbox.archive([ended(rows[0]!), ended(rows[1]!, true)]);
  const listed = async (period: { from?: number; to?: number }) =>
    (await at.stores.deliveries.list({ webhooks: [at.hook], state: null, ...period, limit: 10, offset: 0 })).deliveries.map(({ eventId }) =>
      rows.findIndex((row) => row.eventId === eventId),
    );
  assert.deepEqual(await listed({ from: rows[1]!.at, to: rows[2]!.at }), [2, 1]);
  assert.deepEqual(await listed({ from: rows[2]!.at }), [3, 2]);
  assert.deepEqual(await listed({ to: rows[0]!.at }), [0]);
  assert.deepEqual(await listed({}), [3, 2, 1, 0]);
});
