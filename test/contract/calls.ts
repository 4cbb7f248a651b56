/** How each operation of the interface is called with everything that it takes: every field of `interface.json`, in a value that makes sense. */
import { channelCalls } from './channel-calls.ts';

import { campaignCalls } from './campaign-calls.ts';
import { groupCalls, groupjid } from './group-calls.ts';

export interface ContractCall {
  readonly body?: Readonly<Record<string, unknown>>;
  /** What the service answers that has no platform; 200 when left out. */
  readonly withoutPlatform?: number;
  /** It does not end by itself. */
  readonly stream?: true;
}

const url = 'https://example.com/hook';
const messageId = '3EB0538DA65A59F6D8A251';
const events = ['connection', 'history', 'messages', 'messages_update', 'newsletter_messages', 'call', 'contacts', 'presence', 'blocks'];
const webhook = {
  url,
  events: [...events, 'groups', 'labels', 'chats', 'chat_labels', 'sender'],
  excludeMessages: ['wasSentByApi', 'wasNotSentByApi', 'fromMeYes', 'fromMeNo', 'isGroupYes', 'isGroupNo'],
  addUrlEvents: true,
  addUrlTypesMessages: true,
};

/** Common to all sends. */
const sendFields = {
  replyid: messageId,
  mentions: '5511999999999,5511888888888',
  readchat: true,
  readmessages: true,
  delay: 1,
  forward: true,
  track_source: 'crm',
  track_id: 'order 7',
  async: false,
};

/** The twenty free fields of a lead. */
const leadFieldTexts = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [`lead_field${String(at + 1).padStart(2, '0')}`, `field ${at + 1}`]),
);

/** 409: the session is not connected. */
export const calls: Readonly<Record<string, ContractCall>> = {
  'POST /instance/create': { body: { name: 'shop', adminField01: 'one', adminField02: 'two' } },
  'GET /instance/all': {},
  'POST /instance/connect': {
    body: {
      phone: '5511999999999',
      browser: 'auto',
      systemName: 'Minha Empresa',
      proxy_managed_country: 'br',
      proxy_managed_state: 'sp',
      proxy_managed_city: 'campinas',
    },
    // There is no catalogue.
    withoutPlatform: 503,
  },
  'GET /instance/proxy': {},
  'POST /instance/proxy': {
    body: {
      mode: 'internal',
      proxy_url: 'http://proxy.example.com:8080',
      proxy_fallback: 'internal',
      confirm_no_proxy: true,
      proxy_managed_country: 'br',
    },
    withoutPlatform: 503,
  },
  'GET /proxy-managed/cities': { withoutPlatform: 503 },
  'GET /chatwoot/config': {},
  'PUT /chatwoot/config': {
    body: {
      enabled: false,
      url: 'https://app.chatwoot.com',
      access_token: 'pXXGHHHyJPYHYgWHJHYHgJjj',
      account_id: 1,
      inbox_id: 5,
      ignore_groups: true,
      sign_messages: true,
      create_new_conversation: true,
    },
  },
  'POST /instance/disconnect': {},
  'POST /instance/reset': { withoutPlatform: 409 },
  'GET /instance/status': {},
  'POST /instance/updateInstanceName': { body: { name: 'shop 2' } },
  'POST /instance/updateAdminFields': { body: { id: '', adminField01: 'one', adminField02: 'two' } },
  'DELETE /instance': {},
  'GET /instance/wa_messages_limits': { withoutPlatform: 409 },
  'POST /instance/updateDelaySettings': { body: { msg_delay_min: 0, msg_delay_max: 2 } },
  'POST /instance/presence': { body: { presence: 'available' }, withoutPlatform: 409 },
  'POST /chat/details': { body: { number: '5511999999999', preview: false }, withoutPlatform: 409 },
  'POST /chat/check': { body: { numbers: ['5511999999999', '120363000000000000@g.us'] }, withoutPlatform: 409 },
  'POST /profile/image': { body: { image: 'remove' }, withoutPlatform: 409 },
  'POST /profile/name': { body: { name: 'Shop' }, withoutPlatform: 409 },
  'GET /instance/privacy': { withoutPlatform: 409 },
  'POST /instance/privacy': {
    body: {
      groupadd: 'contacts',
      last: 'contacts',
      status: 'contacts',
      profile: 'all',
      readreceipts: 'all',
      online: 'all',
      calladd: 'known',
    },
    withoutPlatform: 409,
  },
  'POST /call/make': { body: { number: '5511999999999', call_duration: 15 }, withoutPlatform: 409 },
  'POST /call/reject': { body: { number: '5511999999999', id: 'ABCD' }, withoutPlatform: 409 },
  'POST /send/text': {
    body: {
      number: '5511999999999',
      text: 'Hello',
      linkPreview: true,
      linkPreviewTitle: 'Title',
      linkPreviewDescription: 'Description',
      linkPreviewImage: 'https://example.com/image.jpg',
      linkPreviewLarge: true,
      ...sendFields,
    },
    withoutPlatform: 409,
  },
  'POST /send/media': {
    body: {
      number: '5511999999999',
      type: 'document',
      file: 'UERG',
      text: 'Hello',
      docName: 'report.pdf',
      thumbnail: 'https://example.com/thumb.jpg',
      mimetype: 'application/pdf',
      viewOnce: false,
      ...sendFields,
    },
    withoutPlatform: 409,
  },
  'POST /send/contact': {
    body: {
      number: '5511999999999',
      fullName: 'Ana Silva',
      phoneNumber: '5511999999999,5511888888888',
      organization: 'Shop',
      email: 'ana@example.com',
      url: 'https://example.com/ana',
      ...sendFields,
    },
    withoutPlatform: 409,
  },
  'POST /send/location': {
    body: { number: '5511999999999', name: 'MASP', address: 'Paulista', latitude: -23.5616, longitude: -46.6562, ...sendFields },
    withoutPlatform: 409,
  },
  'POST /send/menu': {
    body: {
      number: '5511999999999',
      ...sendFields,
      type: 'list',
      text: 'Choose',
      footerText: 'below',
      imageButton: 'https://example.com/image.jpg',
      listButton: 'Open',
      selectableCount: 1,
      choices: ['[All]', 'One|1|first', 'Two|2'],
    },
    withoutPlatform: 409,
  },
  'POST /send/carousel': {
    body: {
      number: '5511999999999',
      ...sendFields,
      text: 'Look',
      carousel: [
        { text: 'One', image: 'https://example.com/1.jpg', buttons: [{ id: '1', text: 'Take', type: 'REPLY' }] },
        { text: 'Two', video: 'https://example.com/2.mp4', buttons: [{ text: 'Take' }] },
        { text: 'Three', document: 'https://example.com/3.pdf', filename: '3.pdf', buttons: [{ text: 'Take' }] },
      ],
    },
    withoutPlatform: 409,
  },
  'POST /send/location-button': { body: { number: '5511999999999', ...sendFields, text: 'Where are you?' }, withoutPlatform: 409 },
  'POST /send/request-payment': {
    body: {
      number: '5511999999999',
      ...sendFields,
      title: 'Order',
      text: 'To be paid',
      footer: 'Shop',
      itemName: 'Plan',
      invoiceNumber: 'PED-123',
      amount: 199.9,
      pixKey: '123e4567-e89b-42d3-a456-426614174000',
      pixType: 'EVP',
      pixName: 'Shop',
      paymentLink: 'https://example.com/pay',
      fileUrl: 'https://example.com/slip.pdf',
      fileName: 'slip.pdf',
      boletoCode: '34191.79001 01043.510047 91020.150008 5 91070026000',
    },
    withoutPlatform: 409,
  },
  'POST /send/pix-button': {
    body: { number: '5511999999999', ...sendFields, pixKey: 'shop@example.com', pixType: 'EMAIL', pixName: 'Shop' },
    withoutPlatform: 409,
  },
  'POST /send/status': {
    body: {
      type: 'text',
      text: 'Hello',
      background_color: 7,
      font: 1,
      file: 'https://example.com/video.mp4',
      thumbnail: 'https://example.com/thumb.jpg',
      mimetype: 'video/mp4',
      recipients: ['5511999999999'],
      max_recipients: 100,
    },
    withoutPlatform: 409,
  },
  'GET /message/async': {},
  'DELETE /message/async': {},
  'POST /message/find': {
    body: { id: messageId, chatid: '5511999999999@s.whatsapp.net', track_source: 'crm', track_id: 'order 7', limit: 20, offset: 0 },
  },
  // The message of the samples has no file.
  'POST /message/download': {
    body: {
      id: messageId,
      return_base64: true,
      generate_mp3: false,
      return_link: true,
      transcribe: false,
      openai_apikey: 'sk-key',
      download_quoted: false,
    },
    withoutPlatform: 400,
  },
  'POST /message/react': { body: { number: '5511999999999@s.whatsapp.net', text: '👍', id: messageId }, withoutPlatform: 409 },
  'POST /message/edit': { body: { id: messageId, text: 'Better' }, withoutPlatform: 409 },
  'POST /message/pin': { body: { id: messageId, pin: true, duration: 7 }, withoutPlatform: 409 },
  'POST /message/markread': { body: { id: [messageId] }, withoutPlatform: 409 },
  'POST /message/presence': { body: { number: '5511999999999', presence: 'composing', delay: 30_000 }, withoutPlatform: 409 },
  'POST /message/history-sync': {
    body: { mode: 'history', messageid: messageId, number: '5511999999999@s.whatsapp.net', count: 20 },
    withoutPlatform: 409,
  },
  'POST /message/delete': { body: { id: messageId }, withoutPlatform: 409 },
  'POST /chat/find': {
    body: {
      operator: 'AND',
      sort: '-wa_lastMsgTimestamp',
      limit: 20,
      offset: 0,
      wa_fastid: '5511999999999',
      wa_chatid: '5511999999999',
      wa_archived: false,
      wa_contactName: 'Ana',
      wa_name: 'ana',
      name: 'Ana',
      wa_isBlocked: false,
      wa_isGroup: false,
      wa_isGroup_admin: false,
      wa_isGroup_announce: false,
      wa_isGroup_member: false,
      wa_isPinned: true,
      wa_label: '',
      wa_notes: '',
      lead_tags: '',
      lead_isTicketOpen: false,
      lead_assignedAttendant_id: '',
      lead_status: '',
    },
  },
  'POST /chat/editLead': {
    body: {
      id: '5511999999999@s.whatsapp.net',
      chatbot_disableUntil: 1_735_686_000,
      lead_isTicketOpen: true,
      lead_assignedAttendant_id: 'att_123456',
      lead_kanbanOrder: 1000,
      lead_tags: ['vip', 'late'],
      lead_name: 'Ana',
      lead_fullName: 'Ana Lima',
      lead_email: 'ana@example.com',
      lead_personalid: '123.456.789-00',
      lead_status: 'won',
      lead_notes: 'Wants the large one',
      ...leadFieldTexts,
    },
  },
  ...channelCalls,
  'GET /labels': {},
  'POST /label/edit': { body: { labelid: '25', name: 'VIP', color: 2, delete: false }, withoutPlatform: 409 },
  'POST /labels/refresh': { body: { force: false }, withoutPlatform: 409 },
  'POST /chat/labels': { body: { number: '5511999999999', labelids: ['10'], add_labelid: '', remove_labelid: '' }, withoutPlatform: 409 },
  'POST /quickreply/edit': {
    body: {
      id: '',
      shortCut: 'hello',
      type: 'document',
      text: 'Look',
      file: 'https://example.com/file.pdf',
      docName: 'file.pdf',
      delete: false,
      onWhatsApp: false,
    },
  },
  'GET /quickreply/showall': {},
  'POST /instance/updateFieldsMap': { body: leadFieldTexts },
  'POST /chat/read': { body: { number: '5511999999999', read: true }, withoutPlatform: 409 },
  'POST /chat/archive': { body: { number: '5511999999999', archive: true }, withoutPlatform: 409 },
  'POST /chat/mute': { body: { number: '5511999999999', muteEndTime: 8 }, withoutPlatform: 409 },
  'POST /chat/pin': { body: { number: '5511999999999', pin: true }, withoutPlatform: 409 },
  'POST /chat/block': { body: { number: '5511999999999', block: true }, withoutPlatform: 409 },
  'GET /chat/blocklist': { withoutPlatform: 409 },
  'POST /chat/delete': {
    body: {
      number: '5511999999999',
      deleteChatDB: true,
      deleteMessagesDB: true,
      deleteChatWhatsApp: true,
      clearChatWhatsApp: true,
    },
  },
  'POST /chat/ephemeral': { body: { number: '5511999999999', duration: '7d' }, withoutPlatform: 409 },
  'POST /chat/notes': { body: { number: '5511999999999' } },
  'POST /chat/notes/refresh': { body: { number: '5511999999999', force: true }, withoutPlatform: 409 },
  'POST /chat/notes/edit': { body: { number: '5511999999999', notes: 'likes tea' }, withoutPlatform: 409 },
  'GET /contacts': {},
  'POST /contacts/list': { body: { limit: 100, offset: 0, contactScope: 'address_book' } },
  'POST /contact/add': { body: { number: '5511999999999', name: 'Ana Lima' }, withoutPlatform: 409 },
  'POST /contact/remove': { body: { number: '5511999999999' }, withoutPlatform: 409 },
  ...groupCalls,
  'GET /group/list': { withoutPlatform: 409 },
  'POST /business/get/profile': { body: { jid: '5511999999999@s.whatsapp.net' }, withoutPlatform: 409 },
  'GET /business/get/categories': { withoutPlatform: 409 },
  'POST /business/update/profile': {
    body: { description: 'Everything for the kitchen', address: 'Rua das Flores, 123', email: 'shop@example.com' },
    withoutPlatform: 409,
  },
  'POST /business/catalog/list': { body: { jid: '5511999999999@s.whatsapp.net', after: 'cursor' }, withoutPlatform: 409 },
  'POST /business/catalog/info': { body: { jid: '5511999999999@s.whatsapp.net', id: '6987301987654321' }, withoutPlatform: 409 },
  'POST /business/catalog/delete': { body: { id: '6987301987654321' }, withoutPlatform: 409 },
  'POST /business/catalog/show': { body: { id: '6987301987654321' }, withoutPlatform: 409 },
  'POST /business/catalog/hide': { body: { id: '6987301987654321' }, withoutPlatform: 409 },
  'POST /community/create': { body: { name: 'Neighbours' }, withoutPlatform: 409 },
  'POST /community/editgroups': {
    body: { community: groupjid, action: 'add', groupjids: ['120363000000000001@g.us'] },
    withoutPlatform: 409,
  },
  'GET /webhook': {},
  'POST /webhook': { body: { ...webhook, id: '', enabled: true, action: 'add' } },
  'GET /webhook/errors': {},
  'POST /globalwebhook': { body: webhook },
  'GET /globalwebhook': {},
  'GET /globalwebhook/errors': {},
  'GET /sse': { stream: true },
  'POST /admin/token/rotate': {},
  'POST /admin/restart': { withoutPlatform: 202 },
  'GET /admin/nodes': {},
  ...campaignCalls,
};
