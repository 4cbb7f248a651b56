/** Tests the groups of one connection: reads of storage, requests to the platform, and races between both. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Entry, Group, GroupEvent, Person } from '#actors/model.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { GroupCache } from '#src/platform/events/group-cache.ts';
import { GroupUnknown } from '#src/platform/wire/outcomes.ts';

const me = { pn: '551@s.whatsapp.net', lid: '1@lid', name: 'Me' };
const person = (n: number): Person => ({ id: `${n}@lid`, pn: `55${n}@s.whatsapp.net`, lid: `${n}@lid` });
const group = (id: string, subject: string, numbers: readonly number[] = [1, 2]): Group => ({
  id,
  owner: person(1),
  createdAt: null,
  addressing: 'lid',
  subject: { text: subject, by: person(1), at: 1 },
  members: numbers.map((n) => ({ ...person(n), isAdmin: n === 1, isSuperAdmin: false })),
});

const node = (tag: string, attrs: BinaryNode['attrs'], content?: BinaryNode[]): BinaryNode => ({ tag, attrs, ...(content && { content }) });
const groupNode = ({ id, subject, members }: Group): BinaryNode =>
  node(
    'group',
    { id, subject: subject?.text ?? '', s_t: '1', addressing_mode: 'lid' },
    members.map((one) => node('participant', { jid: one.id, phone_number: one.pn, ...(one.isAdmin ? { type: 'admin' } : {}) })),
  );

const changed = (groupId: string, change: GroupEvent): Entry => ({
  kind: 'news',
  lane: groupId,
  news: { type: 'groups', group: { groupId, by: person(2), at: 5, change } },
});
const joins = (groupId: string, n: number): Entry => changed(groupId, { kind: 'members', action: 'join', people: [person(n)] });
const leaves = (groupId: string, n: number): Entry => changed(groupId, { kind: 'members', action: 'leave', people: [person(n)] });

/** Makes the library's error for a refusal of the platform. */
const refusedWith = (code: number): Error => Object.assign(new Error('refused'), { data: code, output: { statusCode: 500 } });
/** Makes the library's error for a query without an answer. */
const unanswered = (status: number): Error => Object.assign(new Error('no answer'), { output: { statusCode: status } });

interface World {
  /** True if the names are not read yet. */
  unread?: boolean;
  stored?: readonly Group[];
  platform?: readonly Group[];
  listedAt?: number | null;
}

/** Creates a cache with its storage and its platform. Answers can be held until `release`. */
const setup = async ({ stored = [], platform = [], listedAt = 1, unread = false }: World) => {
  const entries: Entry[] = [];
  const asked: string[] = [];
  const read: string[] = [];
  const failures: unknown[] = [];
  const state: { away: boolean; readings: number; failure: Error | null } = { away: false, readings: 0, failure: null };
  let held: Promise<void> = Promise.resolve();
  let recorded: Promise<unknown> = Promise.resolve();
  const cache: GroupCache = new GroupCache({
    known: async () => {
      state.readings += 1;
      await held;
      if (state.away) throw new StorageUnavailable('the database is away');
      return { names: new Map(stored.map(({ id, subject }) => [id, subject?.text ?? ''])), memberships: [], pictures: [], listedAt };
    },
    maxAgeMs: 1_000,
    directory: () => ({ me, pn: () => '', lid: () => '', groupName: () => '', community: () => null, newId: () => 'r', now: () => 900 }),
    sock: () => ({
      query: async ({ attrs }: BinaryNode) => {
        asked.push(attrs['to'] ?? '');
        await held;
        if (state.failure !== null) throw state.failure;
        if (attrs['to'] === '@g.us') return node('iq', {}, [node('groups', {}, platform.map(groupNode))]);
        const found = platform.find(({ id }) => id === attrs['to']);
        if (found === undefined) throw refusedWith(404);
        return node('iq', {}, [groupNode(found)]);
      },
    }),
    stored: async (id) => {
      read.push(id);
      await held;
      if (state.away) throw new StorageUnavailable('the database is away');
      return stored.find((one) => one.id === id) ?? null;
    },
    record(given) {
      entries.push(...given);
      cache.apply(given);
    },
    recorded: () => recorded,
    stumbled: (_where, error) => void failures.push(error),
    keys: { apply: () => undefined, listed: () => undefined },
  });
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  const unrecorded = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    recorded = promise;
    return resolve;
  };
  const members = async (id: string) =>
    (await cache.get(id))?.members.map((one) => `${one.id.split('@')[0]}${one.isAdmin ? '*' : ''}`).join(' ');
  if (!unread) await cache.unread();
  return { cache, state, entries, asked, read, failures, hold, unrecorded, members };
};

test('group cache: a stored group is read once and causes no request', async () => {
  const { cache, asked, read, members } = await setup({ stored: [group('a@g.us', 'A')] });
  cache.opened();
  assert.equal(cache.name('a@g.us'), 'A');
  assert.deepEqual(await Promise.all([members('a@g.us'), members('a@g.us')]), ['1* 2', '1* 2']);
  assert.deepEqual(await cache.metadata('a@g.us'), {
    id: 'a@g.us',
    subject: 'A',
    owner: '1@lid',
    addressingMode: 'lid',
    participants: [
      { id: '1@lid', admin: 'admin' },
      { id: '2@lid', admin: null },
    ],
  });
  assert.equal(await cache.metadata('a@g.us'), await cache.metadata('a@g.us'), 'it is made once');
  assert.deepEqual([asked, read], [[], ['a@g.us']]);
});

test('group cache: members, names and the timer follow changes', async () => {
  const { cache, members, asked } = await setup({ stored: [group('a@g.us', 'A')] });
  await members('a@g.us');
  cache.apply([joins('a@g.us', 3), changed('a@g.us', { kind: 'members', action: 'promote', people: [person(3)] }), leaves('a@g.us', 2)]);
  cache.apply([
    changed('a@g.us', { kind: 'settings', settings: { subject: { text: 'B', by: person(1), at: 2 }, ephemeral: 60 } }),
    changed('unknown@g.us', { kind: 'settings', settings: { subject: { text: 'X', by: person(1), at: 2 } } }),
  ]);
  assert.deepEqual([await members('a@g.us'), cache.name('a@g.us'), cache.name('unknown@g.us')], ['1* 3*', 'B', '']);
  assert.equal((await cache.metadata('a@g.us'))?.ephemeralDuration, 60);
  cache.apply([{ kind: 'groupGone', groupId: 'a@g.us' }]);
  assert.equal(cache.name('a@g.us'), '');
  assert.deepEqual(asked, []);
});

test('group cache: a change that is not stored yet applies to a group that is read from storage', async () => {
  const { cache, unrecorded, hold, members } = await setup({ stored: [group('a@g.us', 'A'), group('b@g.us', 'B')] });
  const stored = unrecorded();
  cache.apply([joins('a@g.us', 3)]);
  assert.equal(await members('a@g.us'), '1* 2 3', 'before the read');
  const release = hold();
  const reading = members('b@g.us');
  cache.apply([joins('b@g.us', 4)]);
  release();
  stored();
  assert.equal(await reading, '1* 2 4', 'while it is read');
});

test('group cache: while storage is away a read rejects, and a later one finds the group', async () => {
  const { cache, state, asked, failures, members } = await setup({ stored: [group('a@g.us', 'A')] });
  state.away = true;
  await assert.rejects(members('a@g.us'), StorageUnavailable);
  assert.equal(failures.length, 0, 'the caller decides what the failure means');
  assert.deepEqual([await cache.getIfReadable('a@g.us'), await cache.metadata('a@g.us'), failures.length], [null, undefined, 2]);
  state.away = false;
  assert.equal(await members('a@g.us'), '1* 2');
  assert.deepEqual(asked, []);
});

test('group cache: a change at any moment of a read applies', async () => {
  for (let depth = 0; depth < 12; depth += 1) {
    const { cache, hold, members } = await setup({ stored: [group('a@g.us', 'A')] });
    const release = hold();
    const reading = members('a@g.us');
    release();
    for (let tick = 0; tick < depth; tick += 1) await Promise.resolve();
    cache.apply([joins('a@g.us', 3)]);
    await reading;
    assert.equal(await members('a@g.us'), '1* 2 3', `after ${depth} ticks`);
  }
});

test('group cache: a group that the account leaves while it is read is unknown afterwards', async () => {
  const { cache, hold, members } = await setup({ stored: [group('a@g.us', 'A')] });
  const release = hold();
  const reading = members('a@g.us');
  cache.apply([{ kind: 'groupGone', groupId: 'a@g.us' }]);
  release();
  assert.deepEqual([await reading, await members('a@g.us')], [undefined, undefined]);
});

test('group cache: a change that is not stored yet applies to a group that left memory meanwhile', async () => {
  const many = Array.from({ length: 601 }, (_, n) => group(`g${n}@g.us`, `G${n}`));
  const { cache, unrecorded, read, members } = await setup({ stored: many });
  await members('g0@g.us');
  unrecorded();
  cache.apply([joins('g0@g.us', 3)]);
  for (const { id } of many.slice(1)) await members(id);
  assert.equal(await members('g0@g.us'), '1* 2 3');
  assert.equal(read.filter((id) => id === 'g0@g.us').length, 2, 'it is read again');
});

test('group cache: an unknown group is requested once, and recorded', async () => {
  const { entries, asked, members, failures } = await setup({ platform: [group('n@g.us', 'N')] });
  assert.deepEqual(await Promise.all([members('n@g.us'), members('n@g.us')]), ['1* 2', '1* 2']);
  assert.equal(await members('n@g.us'), '1* 2');
  assert.deepEqual(asked, ['n@g.us']);
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['group', 'chat'],
  );
  assert.equal(await members('nowhere@g.us'), undefined);
  assert.equal(failures.length, 1);
});

for (const code of [401, 403, 404, 410])
  test(`group cache: a refusal with ${code} means that there is no such group for the account`, async () => {
    const { cache, state, failures } = await setup({});
    state.failure = refusedWith(code);
    assert.deepEqual([await cache.get('n@g.us'), failures.length], [null, 1]);
  });

const silences: readonly (readonly [what: string, failure: Error])[] = [
  ['a time-out', unanswered(408)],
  ['the end of the connection', unanswered(428)],
  ['an error of the network', new Error('read ECONNRESET')],
  ['too many requests', refusedWith(429)],
  ['an overload of the platform', refusedWith(503)],
];
for (const [what, failure] of silences)
  test(`group cache: after ${what} a group does not count as absent, and a later read finds the group`, async () => {
    const { cache, state, failures, members } = await setup({ platform: [group('n@g.us', 'N')] });
    state.failure = failure;
    await assert.rejects(cache.get('n@g.us'), GroupUnknown);
    assert.equal(failures.length, 1);
    assert.deepEqual([await cache.getIfReadable('n@g.us'), await cache.metadata('n@g.us'), failures.length], [null, undefined, 3]);
    state.failure = null;
    assert.equal(await members('n@g.us'), '1* 2');
  });

test('group cache: when the account is added to an unknown group, the group is requested', async () => {
  const { cache, asked } = await setup({ platform: [group('n@g.us', 'N')] });
  cache.apply([joins('n@g.us', 9)]);
  assert.deepEqual(asked, []);
  cache.apply([joins('n@g.us', 1)]);
  await cache.get('n@g.us');
  assert.deepEqual([asked, cache.name('n@g.us')], [['n@g.us'], 'N']);
});

const logins: readonly (readonly [what: string, listedAt: number | null, asked: number])[] = [
  ['groups were never listed', null, 1],
  ['they were listed long ago', -200, 1],
  ['they were listed lately', 100, 0],
];
for (const [what, listedAt, count] of logins)
  test(`group cache: at a login ${what}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { cache, asked } = await setup({ listedAt, unread: true });
    cache.opened();
    t.mock.timers.tick(250);
    await cache.unread();
    assert.equal(asked.length, count);
  });

test('group cache: a login does not wait for names, and changes before they are read apply', async () => {
  const { cache, state, hold, unrecorded, members } = await setup({ stored: [group('a@g.us', 'A'), group('b@g.us', 'B')], unread: true });
  const [release, store] = [hold(), unrecorded()];
  cache.opened();
  cache.apply([joins('a@g.us', 3), changed('b@g.us', { kind: 'settings', settings: { subject: { text: 'C', by: person(1), at: 2 } } })]);
  const asked = members('a@g.us');
  assert.deepEqual([cache.name('a@g.us'), cache.community('a@g.us')], ['', null]);
  release();
  await cache.unread();
  assert.deepEqual([cache.name('a@g.us'), cache.name('b@g.us'), await asked], ['A', 'C', '1* 2 3']);
  store();
  assert.deepEqual([state.readings, cache.unread()], [1, null]);
});

test('group cache: unused names are read soon after the login, and after a failure at their first use', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { cache, state, failures, members } = await setup({ stored: [group('a@g.us', 'A')], unread: true });
  state.away = true;
  cache.opened();
  assert.equal(state.readings, 0);
  t.mock.timers.tick(250);
  await assert.rejects(async () => cache.unread(), StorageUnavailable);
  assert.equal(failures.length, 1);
  state.away = false;
  assert.deepEqual([await members('a@g.us'), cache.name('a@g.us'), state.readings], ['1* 2', 'A', 2]);
});

test('group cache: simultaneous requests share one list, also those for single groups', async () => {
  const many = Array.from({ length: 60 }, (_, n) => group(`g${n}@g.us`, `G${n}`));
  const { cache, asked, entries, members } = await setup({ platform: many });
  const [, , found] = await Promise.all([cache.refresh(), cache.refresh(), members('g59@g.us')]);
  assert.equal(found, '1* 2');
  assert.deepEqual(asked, ['@g.us']);
  assert.equal(entries.filter(({ kind }) => kind === 'group').length, 60);
  const last = entries.at(-1);
  assert.deepEqual(last?.kind === 'groupsListed' && [last.groupIds.length, last.at], [60, 900]);
});

test('group cache: changes during a request for the list apply, whether the list has them or not', async () => {
  const { cache, entries, hold, members } = await setup({
    stored: [group('old@g.us', 'Old'), group('a@g.us', 'A')],
    platform: [group('a@g.us', 'A', [1, 2]), group('left@g.us', 'Left')],
  });
  const release = hold();
  const listing = cache.refresh();
  cache.apply([joins('a@g.us', 3), leaves('a@g.us', 2)]);
  cache.apply([{ kind: 'groupGone', groupId: 'left@g.us' }]);
  cache.apply([changed('new@g.us', { kind: 'entered', group: group('new@g.us', 'New') })]);
  release();
  await listing;
  assert.equal(await members('a@g.us'), '1* 3');
  const last = entries.at(-1);
  assert.deepEqual(last?.kind === 'groupsListed' && [...last.groupIds].toSorted(), ['a@g.us', 'new@g.us']);
  assert.deepEqual(
    entries.flatMap((entry) => (entry.kind === 'groupGone' ? [entry.groupId] : [])),
    ['old@g.us'],
  );
  assert.deepEqual([cache.name('old@g.us'), cache.name('left@g.us'), cache.name('new@g.us')], ['', '', 'New']);
});
