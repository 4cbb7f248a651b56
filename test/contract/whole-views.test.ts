/** Compares each view with written expectations, for records with a different value in every field. No expectation is computed by the tested code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatView, eventMessageView, instanceView, messageView } from '#src/contract/views.ts';
import { chat, instance, message } from './whole-samples.ts';

const shownMessage = {
  id: 'r1a2b3c4',
  messageid: '3EB0538DA65A59F6D8A251',
  chatid: '120363000000000001@g.us',
  sender: '1000000002@lid',
  senderName: 'the sender',
  sender_pn: '5511999999993@s.whatsapp.net',
  sender_lid: '1000000004@lid',
  isGroup: true,
  fromMe: true,
  messageType: 'ImageMessage',
  source: 'android',
  messageTimestamp: 1_770_146_178_001,
  status: 'Read',
  text: 'the text',
  quoted: 'QUOTED',
  edited: 'EDITED',
  reaction: 'REACTED',
  vote: 'the vote',
  convertOptions: 'one|two',
  buttonOrListid: 'the button',
  owner: '5511988887777',
  error: 'the error',
  callPeer: { jid: 'peer@s.whatsapp.net', name: 'the peer', imagePreviewUrl: 'https://example.com/peer.jpg' },
  content: { URL: 'the content' },
  wasSentByApi: true,
  sendFunction: '/send/media',
  sendPayload: { number: 'the payload' },
  fileURL: 'https://example.com/file.jpg',
  pinned: false,
  starred: false,
  send_folder_id: '',
  track_source: 'the source',
  track_id: 'the track',
  ai_metadata: {},
};

const emptyFields = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`lead_field${at < 9 ? '0' : ''}${at + 1}`, '']));

const shownChat = {
  id: 'r00112233445566',
  wa_fastid: '5511988887777:5511999999991',
  wa_chatid: '5511999999991@s.whatsapp.net',
  wa_chatlid: '1000000002@lid',
  wa_archived: true,
  wa_contactName: 'the contact',
  wa_name: 'the push name',
  name: 'the name',
  image: 'https://example.com/image.jpg',
  imagePreview: 'https://example.com/preview.jpg',
  wa_ephemeralExpiration: 11,
  wa_isBlocked: true,
  wa_isGroup: true,
  wa_isGroup_admin: true,
  wa_isGroup_announce: true,
  wa_isGroup_community: true,
  wa_isGroup_member: true,
  wa_isPinned: true,
  wa_label: ['the owner:7'],
  wa_notes: 'the notes',
  wa_lastMessageTextVote: 'the last text',
  wa_lastMessageType: 'LastMessage',
  wa_lastMessageSender: 'last@lid',
  wa_lastMsgTimestamp: 14,
  wa_muteEndTime: 12,
  wa_unreadCount: 13,
  owner: '5511988887777',
  phone: '+55 11 99999 9993',
  common_groups: '',
  lead_name: 'the lead',
  lead_fullName: '',
  lead_email: '',
  lead_personalid: '',
  lead_status: '',
  lead_tags: ['the tag'],
  lead_notes: '',
  lead_isTicketOpen: true,
  lead_assignedAttendant_id: '',
  lead_kanbanOrder: 15,
  ...emptyFields,
  chatbot_agentResetMemoryAt: 0,
  chatbot_lastTrigger_id: '',
  chatbot_lastTriggerAt: 0,
  chatbot_disableUntil: 16,
};

const shownInstance = {
  id: 'r183e2ef9597845',
  token: 'the token',
  status: 'connected',
  paircode: 'THE-CODE',
  qrcode: 'the picture',
  name: 'the name',
  profileName: 'the profile',
  profilePicUrl: 'https://example.com/profile.jpg',
  isBusiness: true,
  plataform: 'android',
  systemName: 'the system',
  browser: 'safari',
  system: 'Mac OS',
  owner: '5511988887777',
  current_presence: 'unavailable',
  lastDisconnect: '2026-08-19 01:02:03.004Z',
  lastDisconnectReason: 'the reason',
  adminField01: 'the first',
  adminField02: 'the second',
  ai_apikey: '********',
  chatbot_enabled: true,
  chatbot_ignoreGroups: true,
  chatbot_stopConversation: 'stop',
  chatbot_stopMinutes: 21,
  chatbot_stopWhenYouSendMsg: 22,
  msg_delay_min: 23,
  msg_delay_max: 24,
  proxy_managed_country: 'pt',
  fieldsMap: { field: 'mapped' },
  currentTime: '2026-08-20 01:02:03.004Z',
  created: '2026-08-17 01:02:03.004Z',
  updated: '2026-08-18 01:02:03.004Z',
};

const owner = '5511988887777';
const now = Date.parse('2026-08-20T01:02:03.004Z');

test('messageView: every field has its own value', () => assert.deepEqual(messageView(message, owner), shownMessage));

test('eventMessageView: it has the full id, and the fields that only events have', () => {
  const more = {
    id: `${owner}:3EB0538DA65A59F6D8A251`,
    chatlid: '1000000001@lid',
    groupName: 'the group',
    type: 'media',
    mediaType: 'image',
  };
  assert.deepEqual(eventMessageView(message, owner), { ...shownMessage, ...more });
});

test('chatView: every field has its own value', () => assert.deepEqual(chatView(chat, owner), shownChat));

test('instanceView: every field has its own value', () => assert.deepEqual(instanceView(instance, now), shownInstance));

/** Flags of a record, by the name in the view. Each flag is tested alone, with all others off. */
const flags = {
  message: { isGroup: 'isGroup', fromMe: 'fromMe', wasSentByApi: 'wasSentByApi' },
  chat: {
    archived: 'wa_archived',
    blocked: 'wa_isBlocked',
    isGroup: 'wa_isGroup',
    groupAdmin: 'wa_isGroup_admin',
    groupAnnounce: 'wa_isGroup_announce',
    groupCommunity: 'wa_isGroup_community',
    groupMember: 'wa_isGroup_member',
    pinned: 'wa_isPinned',
  },
} as const;

const seen = (view: object, names: readonly string[]): readonly string[] =>
  names.filter((name) => (view as Readonly<Record<string, unknown>>)[name] === true);
const off = (fields: object): object => Object.fromEntries(Object.keys(fields).map((name) => [name, false]));

for (const [field, name] of Object.entries(flags.message))
  test(`messageView: ${name} is shown for ${field} alone`, () => {
    const view = messageView({ ...message, ...off(flags.message), [field]: true }, owner);
    assert.deepEqual(seen(view, Object.values(flags.message)), [name]);
  });

for (const [field, name] of Object.entries(flags.chat))
  test(`chatView: ${name} is shown for ${field} alone`, () => {
    const view = chatView({ ...chat, ...off(flags.chat), [field]: true }, owner);
    assert.deepEqual(seen(view, Object.values(flags.chat)), [name]);
  });
