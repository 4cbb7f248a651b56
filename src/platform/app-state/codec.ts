/**
 * The cryptography of a patch. It does what the library's `encodeSyncdPatch` does, for several mutations at once and without its fault: the library keeps
 * the index of a removed record, so that the hash of every later patch is wrong.
 */
import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type LTHashState, makeLtHashGenerator, proto, type WAPatchName } from '@whiskeysockets/baileys';
import { type Mutation, SET } from './actions.ts';

/** A key that the phone shared with its devices. `id`: as it stands in patches. */
export interface SharedKey {
  readonly id: Uint8Array;
  readonly data: Uint8Array;
}

interface MutationKeys {
  readonly index: Buffer;
  readonly encryption: Buffer;
  readonly valueMac: Buffer;
  readonly snapshotMac: Buffer;
  readonly patchMac: Buffer;
}

const keyLength = 32;
const macLength = 32;

const deriveKeys = (data: Uint8Array): MutationKeys => {
  const all = Buffer.from(hkdfSync('sha256', data, Buffer.alloc(0), 'WhatsApp Mutation Keys', 5 * keyLength));
  const at = (number: number): Buffer => all.subarray(number * keyLength, (number + 1) * keyLength);
  return { index: at(0), encryption: at(1), valueMac: at(2), snapshotMac: at(3), patchMac: at(4) };
};

const bigEndian = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

const mac = (algorithm: 'sha256' | 'sha512', key: Buffer, ...data: readonly Uint8Array[]): Buffer => {
  const hmac = createHmac(algorithm, key);
  for (const part of data) hmac.update(part);
  return hmac.digest();
};

interface Sealed {
  readonly operation: Mutation['operation'];
  readonly indexMac: Buffer;
  readonly valueMac: Buffer;
  readonly record: proto.ISyncdRecord;
}

const seal = ({ operation, index, value, version }: Mutation, key: SharedKey, keys: MutationKeys): Sealed => {
  const name = Buffer.from(JSON.stringify(index));
  const plain = proto.SyncActionData.encode({ index: name, value, padding: new Uint8Array(0), version }).finish();
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', keys.encryption, iv);
  const encrypted = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const head = Buffer.concat([Buffer.from([operation === SET ? 1 : 2]), key.id]);
  const valueMac = mac('sha512', keys.valueMac, head, encrypted, bigEndian(head.length)).subarray(0, macLength);
  const indexMac = mac('sha256', keys.index, name);
  const blob = Buffer.concat([encrypted, valueMac]);
  return { operation, indexMac, valueMac, record: { index: { blob: indexMac }, value: { blob }, keyId: { id: key.id } } };
};

/** A patch as it travels, and the state of the collection when it is taken. */
export interface EncodedPatch {
  readonly patch: Uint8Array;
  readonly state: LTHashState;
}

/** `state`: of the collection before, in the library's form. It is not changed. */
export const encodePatch = (collection: WAPatchName, mutations: readonly Mutation[], state: LTHashState, key: SharedKey): EncodedPatch => {
  const keys = deriveKeys(key.data);
  const version = state.version + 1;
  const sealed = mutations.map((mutation) => seal(mutation, key, keys));
  const mixing = makeLtHashGenerator(state);
  for (const { indexMac, valueMac, operation } of sealed) mixing.mix({ indexMac, valueMac, operation });
  const { hash, indexValueMap } = mixing.finish();
  const name = Buffer.from(collection);
  const snapshotMac = mac('sha256', keys.snapshotMac, hash, bigEndian(version), name);
  const patchMac = mac('sha256', keys.patchMac, snapshotMac, ...sealed.map(({ valueMac }) => valueMac), bigEndian(version), name);
  const patch = proto.SyncdPatch.encode({
    snapshotMac,
    patchMac,
    keyId: { id: key.id },
    mutations: sealed.map(({ operation, record }) => ({ operation, record })),
  }).finish();
  return { patch, state: { version, hash, indexValueMap } };
};
