/** Tests notifications about channels: their effects on the channel, its chat and the role of the account, in current and older forms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { fromChannelNotification } from '#src/platform/events/from-channels.ts';
import { plainDirectory as directory } from './plain-directory.ts';

const id = '120363000000000001@newsletter';

const notified = (field: string, value: unknown) => {
  const content: BinaryNode[] = [
    { tag: 'update', attrs: { op_name: 'Notification' }, content: Buffer.from(JSON.stringify({ data: { [field]: value } })) },
  ];
  return fromChannelNotification({ tag: 'notification', attrs: { type: 'mex', from: 's.whatsapp.net', id: 'n' }, content }, directory);
};

const gone = [
  ['definitionGone', id],
  ['chatRemoved', id],
];

const rows: readonly (readonly [what: string, field: string, value: unknown, entries: unknown])[] = [
  [
    'the account follows a channel',
    'on_join',
    {
      id,
      state: { type: 'ACTIVE' },
      thread_metadata: {
        name: { text: 'News', id: '5', update_time: '1700000000000000' },
        creation_time: '1700000000',
        preview: { id: '7', direct_path: '/v/p' },
      },
      viewer_metadata: { role: 'SUBSCRIBER', settings: [{ type: 'MUTE_ADMIN_ACTIVITY', value: 'ON' }] },
    },
    [
      {
        kind: 'channel',
        create: true,
        channel: {
          id,
          state: 'active',
          name: { text: 'News', id: '5', at: 1_700_000_000_000 },
          createdAt: 1_700_000_000_000,
          preview: { id: '7', path: '/v/p' },
          role: 'subscriber',
          muted: true,
        },
      },
      {
        kind: 'chat',
        create: true,
        tell: 'chats',
        chat: { chatId: id, name: 'News', imagePreview: 'https://pps.whatsapp.net/v/p', muteEndTime: -1 },
      },
    ],
  ],
  ['the account stops following', 'on_leave', { id }, gone],
  ['the channel is deleted', 'on_state_change', { id, state: { type: 'DELETED' }, is_requestor: false }, gone],
  [
    'the channel is suspended',
    'on_state_change',
    { id, state: { type: 'SUSPENDED' } },
    [{ kind: 'channel', create: false, channel: { id, state: 'suspended' } }],
  ],
  [
    'it is muted, in the older shape',
    'on_mute_change',
    { id, mute: 'ON' },
    [
      { kind: 'channel', create: false, channel: { id, muted: true } },
      { kind: 'chat', create: false, tell: 'chats', chat: { chatId: id, muteEndTime: -1 } },
    ],
  ],
  [
    'notices of what followers do are muted, which no chat shows',
    'on_user_setting_change',
    { id, setting: { type: 'MUTE_FOLLOWER_ACTIVITY', value: 'ON' } },
    [],
  ],
  [
    'its picture is taken away',
    'on_metadata_update',
    { id, thread_metadata: { picture: null, preview: { id: '0', direct_path: '' } } },
    [
      { kind: 'channel', create: false, channel: { id, picture: null, preview: null } },
      { kind: 'chat', create: false, tell: 'chats', chat: { chatId: id, image: '', imagePreview: '' } },
    ],
  ],
  [
    'reactions are limited, told to an admin',
    'admin_metadata_update',
    { id, actor: { id: '2@lid' }, thread_metadata: { settings: { reaction_codes: { value: 'BASIC' } } } },
    [{ kind: 'channel', create: false, channel: { id, reactions: 'basic' } }],
  ],
  [
    'the account becomes an admin',
    'admin_promote',
    { id, user: { id: '1@lid' }, user_new_role: 'ADMIN' },
    [{ kind: 'channel', create: false, channel: { id, role: 'admin' } }],
  ],
  ['somebody else becomes an admin', 'admin_promote', { id, user: { id: '2@lid' }, user_new_role: 'ADMIN' }, []],
  ['a role is new', 'admin_promote', { id, user: { id: '1@lid' }, user_new_role: 'SPONSOR' }, []],
  ['something that is not listed', 'milestone', { id }, []],
  ['what names no channel', 'on_leave', { id: null }, []],
];
for (const [what, field, value, expected] of rows)
  test(`channel notification: ${what}`, () => {
    const name = field.startsWith('admin') ? field : field;
    const entries = notified(`xwa2_notify_newsletter_${name}`, value);
    const told =
      expected === gone
        ? entries.map((one) => [one.kind, one.kind === 'definitionGone' ? one.definition.value.id : 'chatId' in one ? one.chatId : ''])
        : entries;
    assert.deepEqual(told, expected);
  });

test('channel notification: invalid JSON changes nothing', () => {
  const broken: BinaryNode = { tag: 'notification', attrs: {}, content: [{ tag: 'update', attrs: {}, content: Buffer.from('{') }] };
  assert.deepEqual(fromChannelNotification(broken, directory), []);
});
