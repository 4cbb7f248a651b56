/** Encryption at rest: AES-256-GCM under one key, each value bound to the place where it is stored. */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { CorruptCredentials } from '#src/platform/vault.ts';

export interface Sealer {
  seal(place: string, value: string | Uint8Array): Buffer;
  /** Throws when the value was changed, moved, or sealed under another key; the error says nothing about it. */
  open(place: string, sealed: Uint8Array): string;
  openBytes(place: string, sealed: Uint8Array): Buffer;
  /** The value opens under the key before this one alone. */
  isOld(place: string, sealed: Uint8Array): boolean;
}

/** First byte of every value, so that the format may change. */
const version = 1;
const ivLength = 12;
const tagLength = 16;

/** Names a value's place: a value copied to another row does not open there. */
export const placeOf = (table: string, instance: string, type = '', id = ''): string => `${table}|${instance}|${type}|${id}`;

/** Random numbers come in blocks: each call for one costs as much as for hundreds. */
const makeIvs = (): (() => Buffer) => {
  let [block, at] = [Buffer.alloc(0), 0];
  return () => {
    if (at >= block.length) [block, at] = [randomBytes(ivLength * 256), 0];
    return block.subarray(at, (at += ivLength));
  };
};

const keyOf = (bytes: Uint8Array): KeyObject => {
  if (bytes.length !== 32) throw new Error('The encryption key must be 32 bytes long.');
  return createSecretKey(bytes);
};

const openUnder = (key: KeyObject, place: string, sealed: Uint8Array): Buffer => {
  if (sealed.length < 1 + ivLength + tagLength || sealed[0] !== version) throw new Error('The sealed value is damaged.');
  const body = 1 + ivLength;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, body), { authTagLength: tagLength });
  decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(-tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(body, -tagLength)), decipher.final()]);
};

const opensUnder = (key: KeyObject, place: string, sealed: Uint8Array): boolean => {
  try {
    openUnder(key, place, sealed);
    return true;
  } catch {
    return false;
  }
};

/** `former`: the key before this one, while values under it may be left. */
export const makeSealer = (bytes: Uint8Array, former: Uint8Array | null = null): Sealer => {
  const key = keyOf(bytes);
  const formerKey = former && keyOf(former);
  const nextIv = makeIvs();
  const isOld = (place: string, sealed: Uint8Array): boolean =>
    formerKey !== null && !opensUnder(key, place, sealed) && opensUnder(formerKey, place, sealed);
  const openBytes = (place: string, sealed: Uint8Array): Buffer =>
    openUnder(formerKey !== null && isOld(place, sealed) ? formerKey : key, place, sealed);
  return {
    seal(place, value) {
      const iv = nextIv();
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength }).setAAD(Buffer.from(place));
      const body = typeof value === 'string' ? cipher.update(value, 'utf8') : cipher.update(value);
      return Buffer.concat([Buffer.of(version), iv, body, cipher.final(), cipher.getAuthTag()]);
    },
    open: (place, sealed) => openBytes(place, sealed).toString('utf8'),
    openBytes,
    isOld,
  };
};

/** Opens what belongs to a session. */
export const openSealed = (sealer: Sealer, place: string, sealed: Uint8Array): Buffer => {
  try {
    return sealer.openBytes(place, sealed);
  } catch {
    throw new CorruptCredentials('stored credentials or keys cannot be decrypted');
  }
};

export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest();
