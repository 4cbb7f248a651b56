/** Tests groups in PostgreSQL: stored changes, groups of a person, pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Group, GroupEvent, GroupMember, Person } from '#actors/model.ts';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const { instances, journal, groups } = await database.storage();
const { epoch } = instance.record;
for (const id of ['r1', 'r2']) await instances.insert({ ...instance.record, id, token: id });

const person = (n: number): Person => ({ id: `${n}@lid`, pn: `55${n}@s.whatsapp.net`, lid: `${n}@lid` });
const member = (n: number, rank = 0): GroupMember => ({ ...person(n), isAdmin: rank > 0, isSuperAdmin: rank > 1 });
const by = person(1);
const whole = (id: string, change: Partial<Group> = {}): Group => ({
  id,
  owner: by,
  createdAt: 1_000,
  addressing: 'lid',
  subject: { text: `Group ${id}`, by, at: 1 },
  announce: false,
  members: [member(1, 2), member(2)],
  ...change,
});
const stored = (group: Group): Entry => ({ kind: 'group', group });
const news = (groupId: string, change: GroupEvent): Entry => ({
  kind: 'news',
  lane: groupId,
  news: { type: 'groups', group: { groupId, by, at: 5, change } },
});
const commit = (...entries: readonly Entry[]) => journal.commit({ id: 'r1', owner: '', epoch }, entries, () => []);
const ids = (list: readonly { readonly id: string }[]): string => list.map(({ id }) => id).join(' ');
const everything = { search: '', members: true, limit: 100, offset: 0 };

const changes: readonly (readonly [what: string, change: GroupEvent, after: Partial<Group> | null])[] = [
  ['a setting', { kind: 'settings', settings: { announce: true } }, { announce: true }],
  ['who joins', { kind: 'members', action: 'join', people: [person(3)] }, { members: [member(1, 2), member(2), member(3)] }],
  ['who joins again', { kind: 'members', action: 'join', people: [person(2)] }, {}],
  [
    'who leaves, by the number alone',
    { kind: 'members', action: 'leave', people: [{ ...person(2), id: '', lid: '' }] },
    { members: [member(1, 2)] },
  ],
  ['who becomes an admin', { kind: 'members', action: 'promote', people: [person(2)] }, { members: [member(1, 2), member(2, 1)] }],
  [
    'who is an admin no more, with the version of the members',
    { kind: 'members', action: 'demote', people: [person(1)], versions: { before: '1', after: '2' } },
    { members: [member(1), member(2)], participantVersion: '2' },
  ],
  ['a number that changed', { kind: 'renamed', from: person(2), to: person(9) }, { members: [member(1, 2), member(9)] }],
  ['the community', { kind: 'linked', type: 'parent_group', reason: '', groups: [{ id: 'c@g.us', subject: 'C' }] }, { parent: 'c@g.us' }],
  ['a community of which it is no part', { kind: 'unlinked', type: 'sub_group', reason: '', groups: [] }, {}],
  ['the end', { kind: 'deleted', reason: '' }, null],
  ['what nobody knows', { kind: 'other', raw: { tag: 'new', attrs: {}, content: null } }, {}],
];
for (const [what, change, after] of changes)
  test(`groups: a change is stored: ${what}`, async () => {
    await commit(stored(whole('g1@g.us')));
    await commit(news('g1@g.us', change));
    assert.deepEqual(await groups.get('r1', 'g1@g.us'), after && { ...whole('g1@g.us'), ...after });
    await commit({ kind: 'groupGone', groupId: 'g1@g.us' });
    assert.equal(await groups.get('r1', 'g1@g.us'), null);
  });

test('groups: changes of one commit apply in order, and none applies to a group that is not stored', async () => {
  await commit(
    stored(whole('g2@g.us')),
    news('g2@g.us', { kind: 'members', action: 'join', people: [person(3)] }),
    news('g2@g.us', { kind: 'members', action: 'promote', people: [person(3)] }),
    news('unknown@g.us', { kind: 'settings', settings: { announce: true } }),
  );
  assert.deepEqual((await groups.get('r1', 'g2@g.us'))?.members.at(-1), member(3, 1));
  assert.equal(await groups.get('r1', 'unknown@g.us'), null);
});

test('groups: a whole group keeps stored facts that it does not name, such as the code of the link', async () => {
  await commit(stored(whole('g3@g.us')), news('g3@g.us', { kind: 'settings', settings: { inviteCode: 'CODE' } }));
  await commit(stored(whole('g3@g.us', { announce: true })));
  const group = await groups.get('r1', 'g3@g.us');
  assert.deepEqual([group?.inviteCode, group?.announce], ['CODE', true]);
});

test('groups: a row without a change is not written', async () => {
  const version = async () =>
    (await database.admin.rows({ name: '', text: `select xmin::text from chat_group where group_id = 'g3@g.us'` }, []))[0];
  const before = await version();
  await commit(stored(whole('g3@g.us', { announce: true })));
  assert.deepEqual(await version(), before);
});

test('groups: the groups of a person are found by number and by LID, within the instance', async () => {
  await commit(stored(whole('g4@g.us', { members: [member(40), member(1)] })), stored(whole('g5@g.us', { members: [member(40)] })));
  await journal.commit({ id: 'r2', owner: '', epoch }, [stored(whole('g6@g.us', { members: [member(40)] }))], () => []);
  assert.deepEqual(await groups.common('r1', [person(40).pn]), [
    { id: 'g4@g.us', name: 'Group g4@g.us' },
    { id: 'g5@g.us', name: 'Group g5@g.us' },
  ]);
  assert.equal(ids(await groups.common('r1', [person(40).lid, 'nobody@lid'])), 'g4@g.us g5@g.us');
  assert.equal(ids(await groups.common('r1', [])), '');
  await commit(news('g4@g.us', { kind: 'members', action: 'leave', people: [person(40)] }));
  assert.equal(ids(await groups.common('r1', [person(40).pn])), 'g5@g.us');
});

test('groups: a complete list deletes the groups that it lacks, and stores its time', async () => {
  assert.equal((await groups.known('r1')).listedAt, null);
  await commit(stored(whole('g7@g.us')), { kind: 'groupsListed', groupIds: ['g7@g.us', 'g5@g.us'], at: 77 });
  assert.equal(ids((await groups.find('r1', everything)).groups), 'g5@g.us g7@g.us');
  assert.deepEqual(await groups.known('r1'), {
    listedAt: 77,
    names: new Map(['g5@g.us', 'g7@g.us'].map((id) => [id, `Group ${id}`])),
    memberships: [],
    pictures: [],
  });
  assert.deepEqual([...(await groups.known('r2')).names.keys()], ['g6@g.us']);
  await journal.commit({ id: 'r2', owner: '', epoch }, [{ kind: 'groupsListed', groupIds: [], at: 0 }], () => []);
  assert.deepEqual(
    await groups.known('r2'),
    { listedAt: null, names: new Map(), memberships: [], pictures: [] },
    'another account was paired',
  );
});

test('groups: pages, searches by name or id, with members and without', async () => {
  await commit(stored(whole('g8@g.us', { subject: { text: '100% Família', by, at: 1 } })));
  const found = async (query: Partial<typeof everything>) => {
    const { groups: page, total } = await groups.find('r1', { ...everything, ...query });
    return `${ids(page)}/${total}`;
  };
  assert.equal(await found({ limit: 2 }), 'g5@g.us g7@g.us/3');
  assert.equal(await found({ limit: 2, offset: 2 }), 'g8@g.us/3');
  assert.equal(await found({ limit: 2, offset: 9 }), '/3');
  assert.equal(await found({ search: '0% FAM' }), 'g8@g.us/1');
  assert.equal(await found({ search: '%_%' }), '/0');
  assert.equal(await found({ search: 'g7@g.us' }), 'g7@g.us/1');
  assert.deepEqual(
    (await groups.find('r1', { ...everything, members: false })).groups.flatMap(({ members }) => members),
    [],
  );
});
