/** Tests the Signal sessions of the simulated phone with the library of Signal. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { lidJid } from '#src/sandbox/address.ts';
import { People, type Person } from '#src/sandbox/people.ts';
import { silenceSignal } from '#src/sandbox/silence.ts';
import { type Bundle as PhoneBundle, withType } from '#src/sandbox/signal/identity.ts';
import { Phones, type SignalAccess } from '#src/sandbox/signal/phones.ts';
import { Database, Records } from '#src/sandbox/store/database.ts';
import { KeyStore } from '#src/sandbox/store/keys.ts';
import { type OwnEnd, testConversations } from './conversations.ts';
import type { Bundle } from './ends.ts';
import { testGroups } from './group-conversations.ts';

silenceSignal();

/** The device with which every phone of these tests talks. */
const peer = '100000000000001';
const jid = lidJid(peer, 1);

const dataDir = await mkdtemp(join(tmpdir(), 'sandbox-second-opinion-'));
const db = new Database(dataDir);
const keys = new KeyStore(db);
const people = new People(new Records(db), () => undefined);
const phones = new Phones(db, keys, people);
after(async () => {
  db.close();
  await rm(dataDir, { recursive: true, force: true });
});

let numbers = 0;

const take = async <T>(person: Person, work: (signal: SignalAccess) => Promise<T>): Promise<T> => {
  const results: T[] = [];
  await phones.exclusively(person, async (signal) => void results.push(await work(signal)));
  return results[0] as T;
};

/** Converts keys of the phone, which stores public keys without the byte of their type. */
const fromPhone = ({ registrationId, identity, signedPreKey: { id, value, signature }, preKey }: PhoneBundle): Bundle => {
  assert.ok(preKey);
  return {
    registrationId,
    identityKey: withType(identity),
    signedPreKey: { keyId: id, publicKey: withType(value), signature },
    preKey: { keyId: preKey.id, publicKey: withType(preKey.value) },
  };
};

const toPhone = ({ registrationId, identityKey, signedPreKey: { keyId, publicKey, signature }, preKey }: Bundle): PhoneBundle => ({
  registrationId,
  identity: identityKey.subarray(1),
  signedPreKey: { id: keyId, value: publicKey.subarray(1), signature },
  preKey: { id: preKey.keyId, value: preKey.publicKey.subarray(1) },
});

const somebody = (): Person => people.ensure(`551198888${String((numbers += 1)).padStart(4, '0')}`);

const make = async (): Promise<OwnEnd> => {
  const person = somebody();
  return {
    bundle: () => fromPhone(phones.bundle(person)),
    meet: (bundle) => take(person, (signal) => signal.startSession(jid, toPhone(bundle))),
    write: (text) => take(person, (signal) => signal.encrypt(jid, Buffer.from(text))),
    read: ({ type, ciphertext }) =>
      take(person, async (signal) => Buffer.from((await signal.decrypt(jid, type, ciphertext)).plain).toString()),
    loseSessions: async () => keys.putSignal(person.number, { session: { [`${peer}_1.1`]: null } }),
  };
};

testConversations({ name: 'phone', make, linkAnew: make });

const group = '3003@g.us';

testGroups('phone', async () => {
  const person = somebody();
  return {
    distribution: () => take(person, async (signal) => (await signal.encryptGroup(group, Buffer.from('nothing'))).distribution),
    learn: (distribution) => take(person, (signal) => signal.learnSenderKey(group, jid, distribution)),
    write: (text) => take(person, async (signal) => (await signal.encryptGroup(group, Buffer.from(text))).ciphertext),
    read: (message) => take(person, async (signal) => Buffer.from(await signal.decryptGroup(group, jid, message)).toString()),
    renew: async () => keys.forgetSenderKey(person.number, person.lid, group),
  };
});
