/** Tests notifications about groups. Every element becomes a change, also those that the library drops. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import { fromGroupNotification, groupOfNode, outcomesIn } from '#src/platform/events/from-groups.ts';
import { plainDirectory as directory } from './plain-directory.ts';

const id = '1203@g.us';
const node = (tag: string, attrs: BinaryNode['attrs'] = {}, content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs,
  ...(content === undefined ? {} : { content }),
});
const participant = (n: number, attrs: BinaryNode['attrs'] = {}): BinaryNode =>
  node('participant', { jid: `${n}@lid`, phone_number: `55${n}@s.whatsapp.net`, ...attrs });
const person = (n: number) => ({ id: `${n}@lid`, pn: `55${n}@s.whatsapp.net`, lid: `${n}@lid` });
const notified = (...children: readonly BinaryNode[]): readonly Entry[] =>
  fromGroupNotification(
    node('notification', { from: id, participant: '2@lid', participant_pn: '552@s.whatsapp.net', notify: 'Ana', t: '7', id: 'n' }, [
      ...children,
    ]),
    directory,
  );
const changesIn = (entries: readonly Entry[]): readonly unknown[] =>
  entries.flatMap((entry) => (entry.kind === 'news' && entry.news.type === 'groups' ? [entry.news.group.change] : []));
const chatsIn = (entries: readonly Entry[]): readonly object[] => entries.flatMap((entry) => (entry.kind === 'chat' ? [entry.chat] : []));

const bytes = (text: string): Uint8Array => Buffer.from(text);
const settings = (given: object) => ({ kind: 'settings', settings: given });
const rows: readonly (readonly [what: string, element: BinaryNode, change: unknown, chat?: object])[] = [
  [
    'members who came by the link',
    node('add', { reason: 'invite', prev_v_id: '1', v_id: '2' }, [participant(3)]),
    { kind: 'members', action: 'join', people: [person(3)], reason: 'invite', versions: { before: '1', after: '2' } },
  ],
  [
    'the account becomes an admin',
    node('promote', {}, [participant(1)]),
    { kind: 'members', action: 'promote', people: [person(1)] },
    { groupAdmin: true },
  ],
  [
    'the account is an admin no more',
    node('demote', {}, [participant(1)]),
    { kind: 'members', action: 'demote', people: [person(1)] },
    { groupAdmin: false },
  ],
  [
    'the account is removed',
    node('remove', {}, [participant(1)]),
    { kind: 'members', action: 'leave', people: [person(1)] },
    { groupMember: false, groupAdmin: false },
  ],
  ['a number changed', node('modify', {}, [participant(4)]), { kind: 'renamed', from: person(2), to: person(4) }],
  [
    'the name',
    node('subject', { subject: 'New', s_t: '5', s_o: '2@lid' }),
    settings({ subject: { text: 'New', by: person(2), at: 5_000 } }),
    { name: 'New' },
  ],
  [
    'the description',
    node('description', { id: 'D' }, [node('body', {}, bytes('About'))]),
    settings({ topic: { text: 'About', by: person(2), at: 7_000, id: 'D' } }),
  ],
  ['the description is removed', node('description', { delete: 'true' }), settings({ topic: { text: '', by: person(2), at: 7_000 } })],
  ['approval is off', node('membership_approval_mode', {}, [node('group_join', { state: 'off' })]), settings({ joinApproval: false })],
  ['approval is on', node('membership_approval_mode', {}, [node('group_join', { state: 'on' })]), settings({ joinApproval: true })],
  ['who may add members', node('member_add_mode', {}, bytes('admin_add')), settings({ whoAddsMembers: 'admins' })],
  ['the timer', node('ephemeral', { expiration: '60' }), settings({ ephemeral: 60 }), { ephemeralExpiration: 60 }],
  ['no timer', node('not_ephemeral'), settings({ ephemeral: 0 }), { ephemeralExpiration: 0 }],
  ['the link', node('invite', { code: 'CODE' }), settings({ inviteCode: 'CODE' })],
  ['only admins write', node('announcement'), settings({ announce: true }), { groupAnnounce: true }],
  ['everybody changes it', node('unlocked'), settings({ locked: false })],
  ['the platform closed it', node('suspended'), settings({ suspended: true })],
  ['the platform opened it', node('unsuspended'), settings({ suspended: false })],
  ['the end', node('delete', { reason: 'empty' }), { kind: 'deleted', reason: 'empty' }, { groupMember: false, groupAdmin: false }],
  [
    'a community',
    node('link', { link_type: 'parent_group' }, [node('group', { jid: 'c@g.us', subject: 'C' })]),
    { kind: 'linked', type: 'parent_group', reason: '', groups: [{ id: 'c@g.us', subject: 'C' }] },
  ],
  [
    'no community',
    node('unlink', { unlink_type: 'parent_group', unlink_reason: 'unlink_group' }, [node('group', { jid: 'c@g.us' })]),
    { kind: 'unlinked', type: 'parent_group', reason: 'unlink_group', groups: [{ id: 'c@g.us', subject: '' }] },
  ],
  [
    'a request to join',
    node('created_membership_requests', { request_method: 'invite_link' }, [node('requested_user', { jid: '5@lid' })]),
    {
      kind: 'other',
      raw: {
        tag: 'created_membership_requests',
        attrs: { request_method: 'invite_link' },
        content: [{ tag: 'requested_user', attrs: { jid: '5@lid' }, content: null }],
      },
    },
  ],
  ['something new', node('constructor', {}, bytes('x')), { kind: 'other', raw: { tag: 'constructor', attrs: {}, content: 'x' } }],
];
for (const [what, element, change, chat] of rows)
  test(`group notification: ${what}`, () => {
    const entries = notified(element);
    assert.deepEqual(changesIn(entries), [change]);
    assert.deepEqual(chatsIn(entries), chat === undefined ? [] : [{ chatId: id, ...chat }]);
    const [news] = entries.filter(({ kind }) => kind === 'news');
    assert.ok(news?.kind === 'news' && news.news.type === 'groups');
    const { by, byName, at, groupId } = news.news.group;
    assert.deepEqual([by, byName, at, groupId, news.lane], [person(2), 'Ana', 7_000, id, id]);
  });

test('group notification: each of several elements is a change, in order', () => {
  const entries = notified(node('announcement'), node('locked'), node('add', {}, [participant(3)]));
  assert.deepEqual(changesIn(entries), [
    settings({ announce: true }),
    settings({ locked: true }),
    { kind: 'members', action: 'join', people: [person(3)] },
  ]);
});

test('group notification: a removed account, or one whose group ends, is no member any more', () => {
  for (const element of [node('remove', {}, [participant(1)]), node('delete')])
    assert.deepEqual(notified(element).at(-1), { kind: 'groupGone', groupId: id });
  assert.ok(notified(node('remove', {}, [participant(3)])).every(({ kind }) => kind === 'news'));
});

const whole = node(
  'group',
  {
    id: '1203',
    subject: 'Team',
    s_t: '5',
    creation: '4',
    creator: '2@lid',
    creator_pn: '552@s.whatsapp.net',
    addressing_mode: 'lid',
    p_v_id: '9',
  },
  [
    node('membership_approval_mode', {}, [node('group_join', { state: 'off' })]),
    node('linked_parent', { jid: 'c@g.us' }),
    participant(2, { type: 'superadmin' }),
    participant(1, { type: 'admin' }),
    participant(3),
    participant(4, { error: '403' }),
  ],
);

test('group notification: when the account joins a group its chat is created', () => {
  const entries = notified(node('create', { reason: 'invite' }, [whole]));
  const [chat, news] = entries;
  assert.deepEqual(chat, {
    kind: 'chat',
    chat: {
      chatId: id,
      isGroup: true,
      name: 'Team',
      groupAnnounce: false,
      ephemeralExpiration: 0,
      groupCommunity: false,
      groupMember: true,
      groupAdmin: true,
    },
    create: true,
  });
  assert.ok(news?.kind === 'news' && news.news.type === 'groups' && news.news.group.change.kind === 'entered');
  const { group, reason } = news.news.group.change;
  assert.deepEqual(
    [reason, group.joinApproval, group.parent, group.participantVersion, group.createdAt, group.topic],
    ['invite', false, 'c@g.us', '9', 4_000, null],
  );
  assert.deepEqual(
    group.members.map((one) => [one.pn, one.isAdmin, one.isSuperAdmin]),
    [
      ['552@s.whatsapp.net', true, true],
      ['551@s.whatsapp.net', true, false],
      ['553@s.whatsapp.net', false, false],
    ],
  );
  assert.deepEqual(groupOfNode(whole, directory), group);
});

test('group answer: each person has an error, and the invitation instead', () => {
  const refused = node('participant', { jid: '4@lid', error: '403' }, [node('add_request', { code: 'CODE', expiration: '60' })]);
  assert.deepEqual(outcomesIn(node('add', {}, [participant(3), refused]), directory), [
    { person: person(3), error: 0, invitation: null },
    { person: { id: '4@lid', pn: '', lid: '4@lid' }, error: 403, invitation: { code: 'CODE', expiresAt: 60_000 } },
  ]);
});
