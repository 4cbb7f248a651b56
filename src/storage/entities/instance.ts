/** The table of instances, and how other tables refer to it. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** Unix milliseconds. */
export const time = () => p.bigint('number');

/** `token`, `aiApikey` and `proxy` are sealed; tokens are looked up by their hash. */
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
    /** Version of the last change; a trigger sets it. */
    changed: p.bigint('number').default(0).index('instance_changed'),
    /** Marked: gone for everybody, while its rows are removed in pieces. */
    removed: p.boolean().default(false),
  },
  indexes: [{ name: 'instance_removed', expression: `create index "instance_removed" on "instance" ("id") where removed` }],
});

/** The reference to an instance. The database deletes the row together with its instance (cascade). */
export const ofInstance = () =>
  p.manyToOne(InstanceEntity).mapToPk().deleteRule('cascade').updateRule('no action').fieldName('instance_id');

export type InstanceRow = InferEntity<typeof InstanceEntity>;
