/** Tables of the server: its nodes, users, audit log, alerts, and figures by the minute. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

// The tables of several nodes.

/** Times by the database's clock. */
export const NodeEntity = defineEntity({
  name: 'Node',
  tableName: 'node',
  properties: {
    name: p.text().primary(),
    /** The id of one run of the node, to which leases refer. */
    incarnation: p.uuid().unique(),
    until: time(),
    /** Another node has seen that the lease was not renewed for its whole length. */
    ended: p.boolean().default(false),
    capacity: p.integer(),
    load: p.integer(),
    draining: p.boolean(),
    astray: p.integer().default(0),
    /** True if the node reached the bus at its last renewal. Null without a bus, and for a node of an earlier release. */
    bus: p.boolean().nullable(),
    /** True if the node signs its messages on the bus. */
    signs: p.boolean().default(false),
    /** The incarnation that reads values sealed under keys of instances. */
    derives: p.uuid().nullable(),
    version: p.text(),
    started: time(),
  },
});

/** Good while the node of this incarnation is. */
export const LeaseEntity = defineEntity({
  name: 'Lease',
  tableName: 'lease',
  properties: {
    instance: ofInstance().primary(),
    incarnation: p.uuid(),
    epoch: p.integer(),
    since: time(),
    cause: p.text(),
  },
  indexes: [
    { name: 'lease_incarnation', properties: ['incarnation'] },
    { name: 'lease_since', properties: ['since'] },
  ],
});

/** The moment up to which places are used. */
export const AdmissionEntity = defineEntity({
  name: 'Admission',
  tableName: 'admission',
  properties: { name: p.text().primary(), at: p.double() },
});

/** A sign-in to the dashboard. */
export const SignInEntity = defineEntity({
  name: 'SignIn',
  tableName: 'sign_in',
  properties: {
    /** The hash of the secret in the cookie. */
    key: p.text().primary(),
    /** The stored hash of the admin token at sign-in, or the version of the user. The sign-in is valid as long as that value. */
    admin: p.text(),
    until: time(),
    /** Null for the admin token. There is no foreign key, because the version identifies the user. */
    userId: p.text().nullable(),
    /** Null if a node of the last release began the sign-in. */
    address: p.text().nullable(),
    since: p.bigint('number').nullable(),
  },
  indexes: [
    { name: 'sign_in_until', properties: ['until'] },
    { name: 'sign_in_user', properties: ['userId'] },
  ],
});

// The tables of users and of the audit log.

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

// The tables of alerts.

/** One row. */
export const AlertEntity = defineEntity({
  name: 'Alert',
  tableName: 'alert',
  properties: {
    id: p.text().primary(),
    settings: p.json(),
    /** Passwords, tokens and addresses that hold them, sealed. */
    secrets: p.blob(),
    /** JSON, as it was written: a comparison of texts finds out whether it changed. */
    state: p.text().nullable(),
    /** Version of the state. Of two nodes that change the state at once, only one succeeds. */
    version: p.integer().default(0),
  },
});

/** There is no foreign key: a gateway without a cluster reports under the empty name. */
export const NodeTroubleEntity = defineEntity({
  name: 'NodeTrouble',
  tableName: 'node_trouble',
  properties: { node: p.text().primary(), at: time(), startedAt: time(), troubles: p.json() },
});

// The table of figures by the minute.

/** There is no foreign key, because the figures outlive the row of their node. */
export const FigureEntity = defineEntity({
  name: 'NodeFigure',
  tableName: 'node_figure',
  properties: {
    /** Unix milliseconds divided by 60,000. */
    minute: p.integer().primary(),
    /** The name of the node; '' for a gateway without a cluster. */
    node: p.text().primary(),
    spanMs: p.integer(),
    received: p.integer(),
    sent: p.integer(),
    delivered: p.integer(),
    failed: p.integer(),
    reconnects: p.integer(),
    memoryBytes: p.bigint('number'),
    loopMs: p.integer(),
  },
});
