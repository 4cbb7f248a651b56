/** The tables of users and of the audit log. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

export const GatewayUserEntity = defineEntity({
  name: 'GatewayUser',
  tableName: 'gateway_user',
  properties: {
    id: p.text().primary(),
    /** In lower case. */
    name: p.text().unique(),
    role: p.text(),
    /** The hash of the password, sealed. */
    password: p.blob(),
    /** The secret of one-time codes, sealed; null without one-time codes. */
    codeSecret: p.blob().nullable(),
    /** The time step of the last code that was used. */
    codeStep: p.bigint('number').default(0),
    version: p.text(),
    createdAt: time(),
    lastSignInAt: p.bigint('number').default(0),
  },
});

/** There are no foreign keys, because entries outlive the rows that they name. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    at: time(),
    actor: p.text(),
    /** The caller had the token of an instance, or a one-time code of it. Such entries are counted apart. */
    ofToken: p.boolean(),
    who: p.text(),
    address: p.text(),
    method: p.text(),
    route: p.text(),
    instanceId: p.text(),
    subject: p.text(),
    status: p.integer(),
  },
  indexes: [
    { name: 'audit_entry_at', properties: ['at'] },
    { name: 'audit_entry_of_token', properties: ['ofToken', 'id'] },
    { name: 'audit_entry_who', properties: ['who', 'id'] },
    { name: 'audit_entry_instance', properties: ['instanceId', 'id'] },
  ],
});
