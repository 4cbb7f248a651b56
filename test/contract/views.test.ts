/** Compares the views with the field lists of the public interface. */
import assert from 'node:assert/strict';
import { chatDetailsView } from '#src/contract/chat.ts';
import { contentView } from '#src/contract/message.ts';
import { test } from 'node:test';
import {
  chatFields,
  chatView,
  deliveryErrorView,
  eventMessageView,
  instanceView,
  messageView,
  timeText,
  webhookView,
} from '#src/contract/views.ts';
import { chat, deliveryError, instance, message, now, owner, webhook } from './samples.ts';

const words = (text: string): string[] => text.trim().split(/\s+/).sort();

const instanceNames =
  words(`id token status paircode qrcode name profileName profilePicUrl isBusiness plataform systemName browser system owner
  current_presence lastDisconnect lastDisconnectReason adminField01 adminField02 ai_apikey chatbot_enabled chatbot_ignoreGroups
  chatbot_stopConversation chatbot_stopMinutes chatbot_stopWhenYouSendMsg msg_delay_min msg_delay_max proxy_managed_country currentTime created updated`);

const messageNames = words(`id messageid chatid sender senderName isGroup fromMe messageType source messageTimestamp status text quoted
  edited reaction vote convertOptions buttonOrListid owner error content wasSentByApi sendFunction sendPayload fileURL send_folder_id
  track_source track_id ai_metadata sender_pn sender_lid pinned starred`);

const leadFields = Array.from({ length: 20 }, (_, index) => `lead_field${index < 9 ? '0' : ''}${index + 1}`);

const chatNames = words(`id wa_fastid wa_chatid wa_chatlid wa_archived wa_isBlocked wa_isGroup wa_isGroup_admin wa_isGroup_announce
  wa_isGroup_community wa_isGroup_member wa_isPinned wa_contactName wa_name name image imagePreview wa_ephemeralExpiration wa_label wa_notes
  wa_lastMessageTextVote wa_lastMessageType wa_lastMessageSender wa_lastMsgTimestamp wa_muteEndTime wa_unreadCount owner phone common_groups
  lead_name lead_fullName lead_email lead_personalid lead_status lead_notes lead_tags lead_isTicketOpen lead_assignedAttendant_id
  lead_kanbanOrder chatbot_agentResetMemoryAt chatbot_lastTriggerAt chatbot_disableUntil chatbot_lastTrigger_id ${leadFields.join(' ')}`);

const views: readonly (readonly [string, object, readonly string[]])[] = [
  ['instanceView', instanceView(instance, now), instanceNames],
  ['messageView', messageView(message, owner), messageNames],
  ['eventMessageView', eventMessageView(message, owner), [...messageNames, 'chatlid', 'groupName', 'type', 'mediaType'].sort()],
  ['chatView', chatView(chat, owner), chatNames],
  ['webhookView', webhookView(webhook), words('id enabled url events addUrlTypesMessages addUrlEvents excludeMessages')],
  ['deliveryErrorView', deliveryErrorView(deliveryError), words('created url type event message_type status_code attempts error payload')],
];

for (const [name, view, names] of views) {
  test(`${name}: has exactly the fields of the interface`, () => assert.deepEqual(Object.keys(view).sort(), names));
  test(`${name}: leaves nothing undefined`, () => assert.ok(!Object.values(view).includes(undefined)));
}

test('timeText: it separates date and time by a space, and is empty without a time', () => {
  assert.equal(timeText(now), '2026-08-19 17:36:34.345Z');
  assert.equal(timeText(null), '');
});

test('instanceView: shows fieldsMap only when it was set, and the platform in lower case', () => {
  const view = instanceView({ ...instance, record: { ...instance.record, fieldsMap: { vip: true } } }, now);
  assert.deepEqual(view.fieldsMap, { vip: true });
  assert.equal(view.plataform, 'android');
  assert.equal(view.currentTime, '2026-08-19 17:36:34.345Z');
});

test('messageView: gives the stored id, milliseconds, and null for a sender that is not resolved', () => {
  const view = messageView({ ...message, senderPn: '', content: null }, owner);
  assert.deepEqual([view.id, view.messageTimestamp, view.sender_pn, view.content], ['r1a2b3c4', 1_770_146_178_000, null, '']);
});

test('eventMessageView: gives the full id, and the group name that direct chats have', () => {
  const view = eventMessageView(message, owner);
  assert.deepEqual([view.id, view.groupName], [`${owner}:3EB0538DA65A59F6D8A251`, 'Unknown']);
});

test('chatView: makes the quick id of the number, for people, groups and bare ids', () => {
  const fastId = (chatId: string) => chatView({ ...chat, chatId }, owner)['wa_fastid'];
  assert.equal(fastId('5511999999999@s.whatsapp.net'), `${owner}:5511999999999`);
  assert.equal(fastId('120363041234567890@g.us'), `${owner}:120363041234567890`);
  assert.equal(fastId('5511999999999'), `${owner}:5511999999999`);
});

test('chatView: it takes known fields from extra, and uses empty values for missing ones', () => {
  const community = { id: '1@g.us', name: 'Town', image: 'i', preview: 'p', defaultGroup: '2@g.us' };
  const view = chatView({ ...chat, extra: { ...chat.extra, parent_community: community, internal: 1 } }, owner);
  assert.deepEqual([view['lead_name'], view['lead_field07'], view['lead_field08']], ['Ana', 'seven', '']);
  assert.deepEqual([view['lead_tags'], view['lead_kanbanOrder'], view['lead_isTicketOpen']], [['new'], 0, false]);
  assert.deepEqual(view['parent_community'], {
    jid: '1@g.us',
    name: 'Town',
    image_url: 'i',
    image_preview_url: 'p',
    default_subgroup_jid: '2@g.us',
  });
  assert.equal('internal' in view, false);
});

test('chatView: it shows when the identity key of the contact changed, in the details too, and otherwise leaves the field out', () => {
  const changed = { ...chat, extra: { identityChangedAt: 1_770_000_000_000 } };
  assert.equal(chatView(changed, owner)['wa_identityChangedAt'], 1_770_000_000_000);
  const details = { chatId: chat.chatId, lid: '', picture: null, businessName: null, commonGroups: [] };
  const view: Record<string, unknown> = chatDetailsView({ ...details, chat: changed } as Parameters<typeof chatDetailsView>[0], owner);
  assert.equal(view['wa_identityChangedAt'], 1_770_000_000_000);
  assert.equal('wa_identityChangedAt' in chatView(chat, owner), false);
});

test('chatFields: it names every field of a chat except for computed ones', () => {
  const made = ['wa_fastid', 'owner'];
  assert.deepEqual(
    Object.keys(chatFields).sort(),
    chatNames.filter((name) => !made.includes(name)),
  );
});

test('deliveryErrorView: it leaves the status out when the receiver did not reply', () => {
  assert.ok(!('status_code' in deliveryErrorView({ ...deliveryError, statusCode: null })));
});

test('contentView: content that was stored in the spelling of the interface stays as it is', () => {
  const spelled = { URL: 'x', fileSHA256: 'AQID', contextInfo: { stanzaID: '1', mentionedJID: ['2'] }, JPEGThumbnail: '' };
  assert.deepEqual(contentView(spelled), spelled);
  assert.deepEqual(contentView({ url: 'x', contextInfo: { stanzaId: '1', mentionedJid: ['2'] } }), {
    URL: 'x',
    contextInfo: { stanzaID: '1', mentionedJID: ['2'] },
  });
});
