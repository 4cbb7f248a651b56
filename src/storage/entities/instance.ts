/**
 * The tables of instances, webhooks, server-wide values and steps, and the tables of a session: credentials, Signal keys and received stanzas.
 */
import { ArrayType, defineEntity, type InferEntity, p } from '@mikro-orm/core';

// The table of instances, and the reference of other tables to an instance.

/** Makes a column of Unix milliseconds. */
export const time = () => p.bigint('number');

/** Instances. `token`, `aiApikey` and `proxy` are sealed. A token is looked up by its hash. */
export const InstanceEntity = defineEntity({
  name: 'Instance',
  tableName: 'instance',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    tokenHash: p.blob().unique(),
    token: p.blob(),
    wanted: p.text(),
    epoch: p.integer(),
    owner: p.text(),
    jid: p.text(),
    lid: p.text(),
    profileName: p.text(),
    profilePicUrl: p.text(),
    isBusiness: p.boolean(),
    platform: p.text(),
    systemName: p.text(),
    browser: p.text().default(''),
    system: p.text().default(''),
    lastDisconnect: time().nullable(),
    lastDisconnectReason: p.text(),
    lastDisconnectCause: p.text(),
    adminField01: p.text().fieldName('admin_field01'),
    adminField02: p.text().fieldName('admin_field02'),
    aiApikey: p.blob(),
    chatbotEnabled: p.boolean(),
    chatbotIgnoreGroups: p.boolean(),
    chatbotStopConversation: p.text(),
    chatbotStopMinutes: p.integer(),
    chatbotStopWhenYouSendMsg: p.integer(),
    msgDelayMin: p.integer().default(0),
    msgDelayMax: p.integer().default(0),
    accountLeaves: p.boolean().default(false),
    fieldsMap: p.json<Readonly<Record<string, unknown>>>().nullable(),
    proxy: p.blob().nullable(),
    lastActiveAt: time(),
    created: time(),
    updated: time(),
    /** The version of the last change; a trigger sets it. */
    changed: p.bigint('number').default(0).index('instance_changed'),
    /** True after the removal of the instance. Its rows are then deleted in batches. */
    removed: p.boolean().default(false),
  },
  indexes: [{ name: 'instance_removed', expression: `create index "instance_removed" on "instance" ("id") where removed` }],
});

/** Makes the reference to an instance. The database deletes the row together with its instance (cascade). */
export const ofInstance = () =>
  p.manyToOne(InstanceEntity).mapToPk().deleteRule('cascade').updateRule('no action').fieldName('instance_id');

export type InstanceRow = InferEntity<typeof InstanceEntity>;

/** The table of server-wide values. */
export const SettingEntity = defineEntity({
  name: 'Setting',
  tableName: 'setting',
  properties: { name: p.text().primary(), value: p.text() },
});

/** The table of the last steps of each session through its state charts. */
export const StepLogEntity = defineEntity({
  name: 'StepLog',
  tableName: 'step_log',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    /** An array, the oldest step first. */
    steps: p.json(),
  },
});

/** The table of one-time codes with which an account's owner answers the platform's passkey request. */
export const PasskeyCodeEntity = defineEntity({
  name: 'PasskeyCode',
  tableName: 'passkey_code',
  properties: {
    instance: ofInstance().primary(),
    /** The hash of the code; after its use, the hash of the ticket that replaced the code. */
    hash: p.text().unique(),
    /** True after the code was used. The row then belongs to its ticket. */
    used: p.boolean(),
    /** Expiry by the database's clock. */
    until: time(),
  },
});

// A column type for lists of texts.

const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;

/**
 * Quotes every text. MikroORM leaves out quotes that PostgreSQL needs around texts with white space, with a line break, or with the word NULL. MikroORM also
 * converts values that it has read. A damaged row may contain NULL or a list among the texts, so `String` converts each value first.
 */
class TextList extends ArrayType<string> {
  override convertToDatabaseValue(texts: string[] | null): string | null {
    return texts === null ? null : `{${texts.map((text) => quoted(String(text))).join(',')}}`;
  }
}

// The table of webhooks.

export const WebhookEntity = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.text().primary(),
    instance: () => ofInstance().nullable().index('webhook_instance'),
    enabled: p.boolean(),
    url: p.text(),
    events: p.type(TextList).$type<string[]>(),
    excludeMessages: p.type(TextList).$type<string[]>(),
    addUrlEvents: p.boolean(),
    addUrlTypesMessages: p.boolean(),
    managed: p.boolean(),
    created: time(),
    /** The secret, the headers and the settings of Chatwoot, sealed. Null if there are none. */
    private: p.blob().nullable(),
    /** The version of the last change; a trigger sets it. */
    changed: p.bigint('number').default(0).index('webhook_changed'),
    /** True after the removal of the webhook. Its deliveries are then deleted in batches. */
    removed: p.boolean().default(false),
  },
  indexes: [{ name: 'webhook_removed', expression: `create index "webhook_removed" on "webhook" ("id") where removed` }],
});

export type WebhookRow = InferEntity<typeof WebhookEntity>;

// Tables of a session: credentials, Signal keys and received stanzas.

export const CredentialEntity = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: { instance: () => ofInstance().primary(), sealed: p.blob() },
});

/** Signal keys. There is no foreign key, for the reason in `MessageEntity`. */
export const SignalKeyEntity = defineEntity({
  name: 'SignalKey',
  tableName: 'signal_key',
  properties: { instanceId: p.text().primary(), type: p.text().primary(), id: p.text().primary(), sealed: p.blob() },
});

/** The inbound log: received stanzas whose messages may not be stored yet. A stanza with too many failed tries is set aside in its row. */
export const InboundEntity = defineEntity({
  name: 'Inbound',
  tableName: 'inbound',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    seq: p.bigint('number').primary(),
    tries: p.integer(),
    at: time(),
    sealed: p.blob(),
  },
});

/** The credentials of the last session that the platform ended. */
export const RetiredCredentialEntity = defineEntity({
  name: 'RetiredCredential',
  tableName: 'retired_credential',
  properties: { instance: () => ofInstance().primary(), sealed: p.blob(), reason: p.text(), at: time() },
});

/** Signal keys that an older version stored when a session ended. No code writes them today. The end of the next session deletes them. */
export const RetiredKeyEntity = defineEntity({
  name: 'RetiredKey',
  tableName: 'retired_key',
  properties: { instance: () => ofInstance().primary(), type: p.text().primary(), id: p.text().primary(), sealed: p.blob() },
});

/** Instances whose session ended and whose keys are being deleted. */
export const LeavingKeysEntity = defineEntity({
  name: 'LeavingKeys',
  tableName: 'leaving_keys',
  properties: { instanceId: p.text().primary() },
});
