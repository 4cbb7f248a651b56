/** Tests the known numbers in PostgreSQL: numbers that exchanged messages with the account, and numbers that were looked up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Message } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { instance, message as sample } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const { instances, journal, recipients } = await (await testDatabase()).storage();
const { epoch } = instance.record;
const claim = { instanceId: 'r1', epoch };
await instances.insert({ ...instance.record, id: 'r1', token: 'one' });
await instances.insert({ ...instance.record, id: 'r2', token: 'two' });

const since = { knownSince: 1_000, absentSince: 5_000 };
const find = async (forms: readonly string[], of = 'r1') => {
  const [found] = await recipients.find(of, [forms], since);
  return found ? { chatId: found.chatId, at: found.at } : null;
};
const businessName = 'Shop';

const stored = (chatId: string, change: Partial<Message>): Entry => ({
  kind: 'message',
  message: { ...sample, chatId, messageId: `in ${chatId}`, ...change },
  chat: { chatId },
  unread: false,
});

const messages: readonly (readonly [what: string, change: Partial<Message>, known: boolean])[] = [
  ['a message that was received', { fromMe: false, status: '' }, true],
  ['one that was delivered', { fromMe: true, status: 'Delivered' }, true],
  ['one that was read', { fromMe: true, status: 'Read' }, true],
  ['one that the platform took', { fromMe: true, status: 'Sent' }, false],
  ['one that waits', { fromMe: true, status: 'Queued' }, false],
  ['one that failed', { fromMe: true, status: 'Failed' }, false],
];

for (const [n, [what, change, known]] of messages.entries())
  test(`recipients: with ${what} the number is ${known ? 'known' : 'not known'}`, async () => {
    const chatId = `c${n}`;
    await journal.commit({ id: 'r1', owner: '', epoch }, [stored(chatId, change)], () => []);
    const expected = known ? { chatId, at: null } : null;
    assert.deepEqual(await find([chatId]), expected);
    assert.deepEqual(await find(['other form', chatId]), expected);
    assert.equal(await find([chatId], 'r2'), null);
  });

const lookups: readonly (readonly [title: string, chatId: string, at: number, counts: boolean])[] = [
  ['an account that was found lately', 'account', 1_000, true],
  ['an account that was found long ago', 'account', 999, false],
  ['nobody, lately', '', 5_000, true],
  ['nobody, long ago', '', 4_999, false],
];

for (const [n, [title, chatId, at, counts]] of lookups.entries())
  test(`recipients: a lookup: ${title}`, async () => {
    await recipients.save(claim, [{ form: `f${n}`, chatId, businessName }], at);
    assert.deepEqual(await find(['other form', `f${n}`]), counts ? { chatId, at } : null);
  });

test('recipients: exchanged messages count more than a lookup, and a later lookup replaces the earlier one', async () => {
  const row = (chatId: string) => [{ form: 'both', chatId, businessName }];
  await recipients.save(claim, row(''), 9_000);
  await recipients.save(claim, row('account'), 9_001);
  assert.deepEqual(await find(['both']), { chatId: 'account', at: 9_001 });
  await journal.commit({ id: 'r1', owner: '', epoch }, [stored('both', { fromMe: false, status: '' })], () => []);
  assert.deepEqual(await find(['both']), { chatId: 'both', at: null });
});

test('recipients: a former owner stores nothing, and old lookups are removed in pieces', async () => {
  await assert.rejects(recipients.save({ ...claim, epoch: epoch + 1 }, [{ form: 'late', chatId: 'x', businessName }], 9_000), EpochLost);
  assert.equal(await find(['late']), null);
  assert.deepEqual([await recipients.expire(5_000, 2), await recipients.expire(5_000, 2)], [2, 1]);
  assert.ok(await find(['f2']));
});

test('recipients: of many numbers each gets its best form, in the order of the request, with the name of its business', async () => {
  await recipients.save(
    claim,
    [
      { form: 'm1', chatId: 'm1', businessName: 'One' },
      { form: 'm2', chatId: 'm3', businessName: 'Two' },
    ],
    9_000,
  );
  const found = await recipients.find('r1', [['unknown'], ['other', 'm2'], ['m1'], ['c0']], since);
  assert.deepEqual(found, [
    null,
    { chatId: 'm3', businessName: 'Two', at: 9_000 },
    { chatId: 'm1', businessName: 'One', at: 9_000 },
    { chatId: 'c0', businessName: null, at: null },
  ]);
});
