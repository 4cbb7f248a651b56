/** Stored records for tests to vary. */
import type { Campaign, CampaignRecipient, CampaignSend, Chat, Delivery, InstanceRecord, Webhook } from '#actors/model.ts';
import type { StoredMessage } from '#src/storage/journal/columns.ts';

/** A row of the table of messages. Each row names its instance. */
export type MessageRow = StoredMessage & { readonly instanceId: string };
export type ChatRow = Chat & { readonly instanceId: string };

export const instance: InstanceRecord = {
  id: 'r00000000000001',
  name: 'shop',
  token: 'token',
  wanted: 'offline',
  epoch: 1,
  owner: '',
  jid: '',
  lid: '',
  profileName: '',
  profilePicUrl: '',
  isBusiness: false,
  platform: '',
  systemName: '',
  browser: '',
  system: '',
  lastDisconnect: null,
  lastDisconnectReason: '',
  lastDisconnectCause: '',
  adminField01: '',
  adminField02: '',
  aiApikey: '',
  chatbotEnabled: false,
  chatbotIgnoreGroups: false,
  chatbotStopConversation: '',
  chatbotStopMinutes: 0,
  chatbotStopWhenYouSendMsg: 0,
  msgDelayMin: 0,
  msgDelayMax: 0,
  accountLeaves: false,
  fieldsMap: null,
  proxy: null,
  lastActiveAt: 0,
  created: 0,
  updated: 0,
};

export const webhook: Webhook = {
  id: 'w1',
  instanceId: instance.id,
  enabled: true,
  url: 'http://receiver.test/hook',
  events: ['All'],
  excludeMessages: [],
  addUrlEvents: false,
  addUrlTypesMessages: false,
  managed: true,
  secret: '',
  headers: {},
  created: 0,
};

export const delivery = (seq: number, lane = 'chat', change: Partial<Delivery> = {}): Delivery => ({
  seq,
  lane,
  webhookId: webhook.id,
  instanceId: instance.id,
  eventId: `e${seq}`,
  type: 'messages',
  messageType: 'Conversation',
  body: `{"n":${seq}}`,
  size: `{"n":${seq}}`.length,
  attempts: 0,
  at: 0,
  notBefore: 0,
  ...change,
});

/** A row of the table of campaign recipients. A test can change its fields in place. */
export type RecipientRow = { -readonly [K in keyof CampaignRecipient]: CampaignRecipient[K] } & { readonly send: CampaignSend };

export interface CampaignRow {
  campaign: Campaign;
  readonly recipients: RecipientRow[];
}

/** Returns a delivery as couriers see it: without the last attempt and the end. */
export const deliveryOf = ({ tries, ...row }: Delivery): Delivery => {
  const { seq, webhookId, instanceId, eventId, type, messageType, lane, body, size, attempts, at, notBefore } = row;
  const fields = { seq, webhookId, instanceId, eventId, type, messageType, lane, body, size, attempts, at, notBefore };
  return { ...fields, ...(tries === undefined ? {} : { tries }) };
};
