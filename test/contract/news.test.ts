/** Tests the JSON of events that are not stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Group, GroupChange, News } from '#actors/model.ts';
import { deletedView, envelopeView, groupView, newsView, statusView } from '#src/contract/views.ts';

const at = Date.parse('2026-02-02T17:46:57.567Z');
const group = '120363000000000001@g.us';
const eva = { id: '222@lid', pn: '5511900000002@s.whatsapp.net', lid: '222@lid' };
const bob = { id: '333@lid', pn: '', lid: '333@lid' };
const nobody = { id: '', pn: '', lid: '' };

const rows: readonly (readonly [title: string, news: News, payload: object])[] = [
  [
    'a connection that waits for a scan has the picture',
    { type: 'connection', name: 'shop', connection: { status: 'connecting', qrcode: 'data:image/png;base64,AAAA' } },
    { instance: { name: 'shop', status: 'connecting', qrcode: 'data:image/png;base64,AAAA' } },
  ],
  [
    'a connection that is live has nothing more',
    { type: 'connection', name: 'shop', connection: { status: 'connected' } },
    { instance: { name: 'shop', status: 'connected' } },
  ],
  [
    'a logout is marked, and says when and why',
    {
      type: 'connection',
      name: 'shop',
      connection: { status: 'disconnected', lastDisconnect: at, reason: '401: logged out from another device', loggedOut: true },
    },
    {
      type: 'LoggedOut',
      instance: {
        name: 'shop',
        status: 'disconnected',
        lastDisconnect: '2026-02-02 17:46:57.567Z',
        lastDisconnectReason: '401: logged out from another device',
      },
    },
  ],
  [
    'a presence names chat and person',
    {
      type: 'presence',
      presence: { chatId: eva.pn, isGroup: false, who: eva, fromMe: false, state: 'composing', recording: true, lastSeen: null },
    },
    {
      event: {
        State: 'composing',
        Media: 'audio',
        IsFromMe: false,
        IsGroup: false,
        Chat: eva.pn,
        chatid: eva.pn,
        Sender: '222@lid',
        sender_pn: eva.pn,
        sender_lid: '222@lid',
      },
    },
  ],
  [
    'a presence may say when somebody was last seen',
    {
      type: 'presence',
      presence: { chatId: group, isGroup: true, who: bob, fromMe: true, state: 'unavailable', recording: false, lastSeen: at },
    },
    {
      event: {
        State: 'unavailable',
        Media: '',
        IsFromMe: true,
        IsGroup: true,
        Chat: group,
        chatid: group,
        Sender: '333@lid',
        sender_pn: '',
        sender_lid: '333@lid',
        LastSeen: '2026-02-02T17:46:57.567Z',
      },
    },
  ],
  [
    'a call that rings',
    {
      type: 'call',
      call: { id: 'C', chatId: eva.pn, isGroup: false, caller: eva, status: 'offer', isVideo: true, offline: false, at: 9 },
    },
    {
      call: {
        id: 'C',
        chatid: eva.pn,
        from: '222@lid',
        sender_pn: eva.pn,
        sender_lid: '222@lid',
        status: 'offer',
        isVideo: true,
        isGroup: false,
        offline: false,
        timestamp: 9,
      },
    },
  ],
  [
    'a label that was edited',
    { type: 'labels', label: { id: '7', name: 'New', color: 3, deleted: false } },
    { type: 'LabelEdit', event: { LabelID: '7', Action: { name: 'New', color: 3, deleted: false } } },
  ],
];

for (const [title, news, payload] of rows) test(`news: ${title}`, () => assert.deepEqual(newsView(news), payload));

/** All fields of a change of a group, in the order of the interface. */
const unchanged = {
  JID: group,
  Notify: null,
  Sender: '222@lid',
  SenderPN: eva.pn,
  Timestamp: '2026-02-02T17:46:57.567Z',
  Name: null,
  Topic: null,
  Locked: null,
  Announce: null,
  Ephemeral: null,
  MembershipApprovalMode: null,
  Delete: null,
  Link: null,
  Unlink: null,
  NewInviteLink: null,
  PrevParticipantVersionID: null,
  ParticipantVersionID: null,
  JoinReason: null,
  Suspended: null,
  Unsuspended: null,
  UnknownChanges: null,
  Join: null,
  Leave: null,
  Promote: null,
  Demote: null,
  JoinLid: null,
  LeaveLid: null,
  sender_pn: eva.pn,
  sender_lid: '222@lid',
};

const setByEva = { SetAt: '2026-02-02T17:46:57.567Z', SetBy: '222@lid', SetByPN: eva.pn };
const setOf = (name: string) => Object.fromEntries(Object.entries(setByEva).map(([key, value]) => [`${name}${key}`, value]));

const whole: Group = {
  id: group,
  subject: { text: 'Team', by: eva, at },
  locked: true,
  announce: false,
  ephemeral: 0,
  joinApproval: true,
  inviteCode: 'abc',
  whoAddsMembers: 'admins',
  owner: eva,
  createdAt: at,
  members: [
    { ...eva, isAdmin: true, isSuperAdmin: true },
    { ...bob, isAdmin: false, isSuperAdmin: false },
  ],
};
const members = [
  { JID: '222@lid', PhoneNumber: eva.pn, LID: '222@lid', IsAdmin: true, IsSuperAdmin: true },
  { JID: '333@lid', PhoneNumber: '', LID: '333@lid', IsAdmin: false, IsSuperAdmin: false },
];

/** The settings of a group, side by side. */
const shownWhole = {
  JID: group,
  OwnerJID: '222@lid',
  OwnerPN: eva.pn,
  GroupCreated: '2026-02-02T17:46:57.567Z',
  AddressingMode: 'pn',
  AnnounceVersionID: '',
  ParticipantVersionID: '',
  CreatorCountryCode: '',
  IsIncognito: false,
  IsParent: false,
  LinkedParentJID: '',
  IsDefaultSubGroup: false,
  IsSuspended: false,
  Name: 'Team',
  ...setOf('Name'),
  Topic: '',
  TopicDeleted: false,
  IsLocked: true,
  IsAnnounce: false,
  IsEphemeral: false,
  DisappearingTimer: 0,
  IsJoinApprovalRequired: true,
  MemberAddMode: 'admin_add',
  ParticipantCount: 2,
  Participants: members,
  invite_link: 'https://chat.whatsapp.com/abc',
};

const changes: readonly (readonly [title: string, change: GroupChange['change'], type: string, fields: object])[] = [
  [
    'a new name',
    { kind: 'settings', settings: { subject: { text: 'Crew', by: eva, at } } },
    'Group',
    { Name: { Name: 'Crew', ...setOf('Name') } },
  ],
  [
    'a topic that was removed',
    { kind: 'settings', settings: { topic: { text: '', by: eva, at } } },
    'Group',
    { Topic: { Topic: '', TopicDeleted: true, ...setOf('Topic') } },
  ],
  [
    'other settings',
    {
      kind: 'settings',
      settings: { locked: true, announce: true, ephemeral: 86_400, joinApproval: false, inviteCode: 'x', whoAddsMembers: 'all' },
    },
    'Group',
    {
      Locked: { IsLocked: true },
      Announce: { IsAnnounce: true },
      Ephemeral: { IsEphemeral: true, DisappearingTimer: 86_400 },
      MembershipApprovalMode: { IsJoinApprovalRequired: false },
      NewInviteLink: 'https://chat.whatsapp.com/x',
      UnknownChanges: [{ Tag: 'member_add_mode', Attrs: {}, Content: 'all_member_add' }],
    },
  ],
  [
    'members who came',
    { kind: 'members', action: 'join', people: [eva, bob] },
    'Group',
    { Join: [eva.pn, '333@lid'], JoinLid: ['222@lid', '333@lid'] },
  ],
  [
    'members who came by the link',
    { kind: 'members', action: 'join', people: [bob], reason: 'invite', versions: { before: '1', after: '2' } },
    'Group',
    { Join: ['333@lid'], JoinLid: ['333@lid'], JoinReason: 'invite', PrevParticipantVersionID: '1', ParticipantVersionID: '2' },
  ],
  ['the end of a group', { kind: 'deleted', reason: 'empty' }, 'Group', { Delete: { Deleted: true, DeleteReason: 'empty' } }],
  ['a group that was closed', { kind: 'settings', settings: { suspended: true } }, 'Group', { Suspended: true }],
  ['a group that was opened again', { kind: 'settings', settings: { suspended: false } }, 'Group', { Unsuspended: true }],
  [
    'a community',
    { kind: 'linked', type: 'parent_group', reason: '', groups: [{ id: 'c@g.us', subject: 'C' }] },
    'Group',
    { Link: { Type: 'parent_group', UnlinkReason: '', Group: { JID: 'c@g.us', Name: 'C' } } },
  ],
  [
    'what has no field of its own',
    { kind: 'other', raw: { tag: 'created', attrs: { a: 'b' }, content: [{ tag: 'user', attrs: {}, content: null }] } },
    'Group',
    { UnknownChanges: [{ Tag: 'created', Attrs: { a: 'b' }, Content: [{ Tag: 'user', Attrs: {}, Content: null }] }] },
  ],
  ['members who left', { kind: 'members', action: 'leave', people: [bob] }, 'Group', { Leave: ['333@lid'], LeaveLid: ['333@lid'] }],
  ['a new admin', { kind: 'members', action: 'promote', people: [eva] }, 'Group', { Promote: [eva.pn] }],
  [
    'a group that the account came into',
    { kind: 'entered', group: whole, reason: 'invite' },
    'JoinedGroup',
    {
      ...shownWhole,
      Reason: 'invite',
      Type: 'new',
      JoinReason: 'invite',
    },
  ],
];

for (const [title, change, type, fields] of changes) {
  test(`groups: ${title}; everything else is null`, () => {
    const payload = newsView({ type: 'groups', group: { groupId: group, by: eva, at, change } });
    assert.deepEqual(payload, { type, event: { ...unchanged, ...fields } });
    assert.deepEqual(Object.keys(payload['event'] as object).slice(0, 6), ['JID', 'Notify', 'Sender', 'SenderPN', 'Timestamp', 'Name']);
  });
}

test('groups: a change without an author has empty author fields', () => {
  const change = { kind: 'members', action: 'join', people: [eva] } as const;
  const view = newsView({ type: 'groups', group: { groupId: group, by: nobody, at, change } });
  assert.ok('event' in view && 'SenderPN' in view.event);
  const { Sender, SenderPN, sender_pn, sender_lid } = view.event;
  assert.deepEqual([Sender, SenderPN, sender_pn, sender_lid], [null, null, '', '']);
});

test('groups: a whole group has its settings side by side', () => {
  assert.deepEqual(groupView(whole), shownWhole);
  const { Participants: _members, ParticipantCount: _count, ...brief } = shownWhole;
  assert.deepEqual(groupView(whole, { members: false }), brief);
});

const receipt = {
  chatId: eva.pn,
  isGroup: false,
  messageIds: ['A', 'B'],
  sender: '222@lid',
  senderPn: eva.pn,
  senderLid: '222@lid',
  fromMe: false,
  at,
  error: '',
};
const told = {
  MessageIDs: ['A', 'B'],
  Chat: eva.pn,
  chatid: eva.pn,
  Sender: '222@lid',
  sender_pn: eva.pn,
  sender_lid: '222@lid',
  IsFromMe: false,
  IsGroup: false,
  Timestamp: '2026-02-02T17:46:57.567Z',
};

test('messages_update: receipts, receipts of groups, failures and deletions have their types', () => {
  assert.deepEqual(statusView('Read', receipt), { type: 'ReadReceipt', state: 'Read', event: { ...told, Type: 'Read' } });
  assert.deepEqual(statusView('Delivered', { ...receipt, isGroup: true }), {
    type: 'GroupReceipts',
    state: 'Delivered',
    event: { ...told, IsGroup: true, Type: 'Delivered' },
  });
  assert.deepEqual(statusView('Failed', { ...receipt, error: 'no' }), {
    type: 'MessageStatus',
    state: 'Failed',
    event: { ...told, Type: 'Failed', Error: 'no' },
  });
  assert.deepEqual(deletedView(receipt), { type: 'DeletedMessage', state: 'Deleted', event: { ...told, Type: 'Deleted' } });
});

test('envelope: names the server, the event and the instance', () => {
  const sender = { owner: '5511988887777', token: 't', name: 'shop', baseUrl: 'http://gateway.test' };
  assert.deepEqual(envelopeView(sender, 'messages'), {
    BaseUrl: 'http://gateway.test',
    EventType: 'messages',
    owner: '5511988887777',
    token: 't',
    instanceName: 'shop',
  });
});
