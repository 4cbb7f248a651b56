/**
 * The cryptography of the app state: keys, records, authentication codes and the hash of a collection. The code does not use the functions of the client
 * library. Tests can therefore find a mistake of that library.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';

export const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;
export type Operation = proto.SyncdMutation.SyncdOperation;

/** The keys that are derived from a key that the phone shares with its devices. */
export interface MutationKeys {
  readonly index: Buffer;
  readonly encryption: Buffer;
  readonly valueMac: Buffer;
  readonly snapshotMac: Buffer;
  readonly patchMac: Buffer;
}

/** A decrypted record. `index`: the name of the action, and the chat, message or other object that it changes. */
export interface Action {
  readonly index: readonly string[];
  readonly value: proto.ISyncActionValue;
  readonly version: number;
}

const macLength = 32;
const ivLength = 16;
const hashLength = 128;

export const emptyHash: Buffer = Buffer.alloc(hashLength);

export function deriveKeys(keyData: Uint8Array): MutationKeys {
  const all = Buffer.from(hkdfSync('sha256', keyData, Buffer.alloc(0), 'WhatsApp Mutation Keys', 160));
  const [index, encryption, valueMac, snapshotMac, patchMac] = [0, 32, 64, 96, 128].map((at) => all.subarray(at, at + 32)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  return { index, encryption, valueMac, snapshotMac, patchMac };
}

const hmac = (key: Uint8Array, ...data: readonly Uint8Array[]): Buffer => createHmac('sha256', key).update(Buffer.concat(data)).digest();

const indexMacOf = (keys: MutationKeys, index: Uint8Array): Buffer => hmac(keys.index, index);

function valueMacOf(keys: MutationKeys, operation: Operation, keyId: Uint8Array, encrypted: Uint8Array): Buffer {
  const head = Buffer.concat([Buffer.from([operation === SET ? 1 : 2]), keyId]);
  const all = Buffer.concat([head, encrypted, bigEndian(head.length)]);
  return createHmac('sha512', keys.valueMac).update(all).digest().subarray(0, macLength);
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** Returns the authentication code of the whole collection at a version. */
export const snapshotMacOf = (keys: MutationKeys, hash: Uint8Array, version: number, collection: string): Buffer =>
  hmac(keys.snapshotMac, hash, bigEndian(version), Buffer.from(collection));

/** Returns the authentication code of one patch. */
export const patchMacOf = (
  keys: MutationKeys,
  snapshotMac: Uint8Array,
  valueMacs: readonly Uint8Array[],
  version: number,
  collection: string,
): Buffer => hmac(keys.patchMac, snapshotMac, ...valueMacs, bigEndian(version), Buffer.from(collection));

export const same = (one: Uint8Array, other: Uint8Array | null | undefined): boolean =>
  other?.length === one.length && timingSafeEqual(one, other);

/** Encrypts an action and returns its mutation. */
export function seal(
  keys: MutationKeys,
  keyId: Uint8Array,
  operation: Operation,
  { index, value, version }: Action,
  iv: Uint8Array,
): proto.ISyncdMutation {
  const name = Buffer.from(JSON.stringify(index));
  const plain = proto.SyncActionData.encode({ index: name, value, padding: new Uint8Array(0), version }).finish();
  const cipher = createCipheriv('aes-256-cbc', keys.encryption, iv);
  const encrypted = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const blob = Buffer.concat([encrypted, valueMacOf(keys, operation, keyId, encrypted)]);
  return { operation, record: { index: { blob: indexMacOf(keys, name) }, value: { blob }, keyId: { id: keyId } } };
}

/** Decrypts a mutation. Throws if an authentication code is wrong, or if the content is not an action. */
export function open(keys: MutationKeys, keyId: Uint8Array, operation: Operation, record: proto.ISyncdRecord): Action {
  const blob = Buffer.from(record.value?.blob ?? []);
  if (blob.length < ivLength + macLength) throw new Error('the value is too short');
  const encrypted = blob.subarray(0, -macLength);
  if (!same(valueMacOf(keys, operation, keyId, encrypted), blob.subarray(-macLength))) throw new Error('wrong value mac');
  const decipher = createDecipheriv('aes-256-cbc', keys.encryption, encrypted.subarray(0, ivLength));
  const plain = Buffer.concat([decipher.update(encrypted.subarray(ivLength)), decipher.final()]);
  const { index: name, value, version } = proto.SyncActionData.decode(plain);
  if (!same(indexMacOf(keys, name ?? new Uint8Array(0)), record.index?.blob)) throw new Error('wrong index mac');
  const index: unknown = JSON.parse(Buffer.from(name ?? []).toString('utf8'));
  if (!Array.isArray(index) || index.length === 0 || !index.every((part) => typeof part === 'string'))
    throw new Error('the index is no list');
  return { index, value: value ?? {}, version: version ?? 0 };
}

/** Returns the hash of a collection after removals and additions of records. The hash is a sum, so it does not depend on the order of records. */
export function mixHash(hash: Uint8Array, removed: readonly Uint8Array[], added: readonly Uint8Array[]): Buffer {
  const result = Buffer.from(hash);
  for (const [macs, sign] of [
    [removed, -1],
    [added, 1],
  ] as const) {
    for (const mac of macs) {
      const expanded = Buffer.from(hkdfSync('sha256', mac, Buffer.alloc(0), 'WhatsApp Patch Integrity', hashLength));
      for (let at = 0; at < hashLength; at += 2)
        result.writeUInt16LE((result.readUInt16LE(at) + sign * expanded.readUInt16LE(at)) & 0xffff, at);
    }
  }
  return result;
}

export const macOfRecord = (record: proto.ISyncdRecord | null | undefined): Buffer =>
  Buffer.from(record?.value?.blob ?? []).subarray(-macLength);
