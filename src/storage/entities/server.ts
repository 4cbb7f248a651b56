/** The tables of nodes, users, the audit log, alerts, and figures by the minute. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

// The tables of a cluster.

/** Nodes. All times are by the database's clock. */
export const NodeEntity = defineEntity({
  name: 'Node',
  tableName: 'node',
  properties: {
    name: p.text().primary(),
    /** The id of one run of the node. Leases refer to this id. */
    incarnation: p.uuid().unique(),
    until: time(),
    /** True if another node saw that this node did not renew its lease for a whole lease period. */
    ended: p.boolean().default(false),
    capacity: p.integer(),
    load: p.integer(),
    draining: p.boolean(),
    astray: p.integer().default(0),
    /** True if the node reached the bus at its last renewal. Null without a bus, and for a node of an earlier release. */
    bus: p.boolean().nullable(),
    /** True if the node signs its messages on the bus. */
    signs: p.boolean().default(false),
    /** The incarnation of the last run that could read values sealed under derived keys of instances. A run of an older release does not change this column. */
    derives: p.uuid().nullable(),
    version: p.text(),
    started: time(),
  },
});

/** Leases. A lease is valid as long as the lease of its node. */
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

/** The rate limit of handshakes in the whole cluster. `at` is the time up to which its permits are used, in Unix milliseconds. */
export const AdmissionEntity = defineEntity({
  name: 'Admission',
  tableName: 'admission',
  properties: { name: p.text().primary(), at: p.double() },
});

/** Sign-ins to the dashboard. */
export const SignInEntity = defineEntity({
  name: 'SignIn',
  tableName: 'sign_in',
  properties: {
    /** The hash of the secret in the cookie. */
    key: p.text().primary(),
    /** The stored hash of the admin token at sign-in, or the version of the user. The sign-in ends when this value changes. */
    admin: p.text(),
    until: time(),
    /** Null for the admin token. There is no foreign key, because a sign-in is invalid without its user. */
    userId: p.text().nullable(),
    /** The address of the client. Null if a node of the previous release created the sign-in. */
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
    /** The name in lower case. */
    name: p.text().unique(),
    role: p.text(),
    /** The hash of the password, sealed. */
    password: p.blob(),
    /** The secret of one-time codes, sealed. Null if the user has no one-time codes. */
    codeSecret: p.blob().nullable(),
    /** The time step of the last used code, so that no code works twice. */
    codeStep: p.bigint('number').default(0),
    version: p.text(),
    createdAt: time(),
    lastSignInAt: p.bigint('number').default(0),
  },
});

/** The audit log. There are no foreign keys, because entries outlive the rows that they name. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    at: time(),
    actor: p.text(),
    /** True if the caller had the token or a one-time code of an instance. Such entries have their own limit. */
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

/** The settings and the state of alerts, in one row. */
export const AlertEntity = defineEntity({
  name: 'Alert',
  tableName: 'alert',
  properties: {
    id: p.text().primary(),
    settings: p.json(),
    /** Passwords, tokens, and addresses that contain them, sealed. */
    secrets: p.blob(),
    /** JSON as text. A comparison of the texts shows if the state has changed. */
    state: p.text().nullable(),
    /** The version of the state, for optimistic locking. If two nodes change the state at the same time, only one succeeds. */
    version: p.integer().default(0),
  },
});

/** The troubles of each node. There is no foreign key, because a gateway without a cluster reports under the empty name. */
export const NodeTroubleEntity = defineEntity({
  name: 'NodeTrouble',
  tableName: 'node_trouble',
  properties: { node: p.text().primary(), at: time(), startedAt: time(), troubles: p.json() },
});

// The table of figures by the minute.

/** Figures by the minute. There is no foreign key, because the figures outlive the row of their node. */
export const FigureEntity = defineEntity({
  name: 'NodeFigure',
  tableName: 'node_figure',
  properties: {
    /** The minute: Unix milliseconds divided by 60,000. */
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
