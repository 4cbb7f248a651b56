/** The tables of several nodes. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

/** Times by the database's clock. */
export const NodeEntity = defineEntity({
  name: 'Node',
  tableName: 'node',
  properties: {
    name: p.text().primary(),
    /** One life of the node; leases refer to it. */
    incarnation: p.uuid().unique(),
    until: time(),
    /** Another node has seen that the lease was not renewed for its whole length. */
    ended: p.boolean().default(false),
    capacity: p.integer(),
    load: p.integer(),
    draining: p.boolean(),
    astray: p.integer().default(0),
    /** The node reached the bus at its last renewal. Null: it has none, or is of a release that does not say. */
    bus: p.boolean().nullable(),
    /** True if the node signs what it sends over the bus. */
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
    /** A hash of what the cookie holds. */
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
