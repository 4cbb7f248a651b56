/** Reads values, names of people and devices, and keys from rows of whatsmeow. Values are checked before use and never shown. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyPair } from '@whiskeysockets/baileys';

// Reads values of rows from `pg` and `node:sqlite`. The values are checked before use and never shown.

/** A row that cannot be used; `message` is a clause without any value. */
export class BrokenRow extends Error {
  override readonly name = 'BrokenRow';
}

export type Row = Readonly<Record<string, unknown>>;

/** Returns the bytes of a column. Throws `BrokenRow` if the column has no bytes, or if their number differs from `length`. */
export const bytesIn = (row: Row, column: string, length?: number): Buffer => {
  const value = row[column];
  if (!Buffer.isBuffer(value)) throw new BrokenRow(`the column ${column} holds no bytes`);
  if (length !== undefined && value.length !== length)
    throw new BrokenRow(`the column ${column} holds ${value.length} bytes in place of ${length}`);
  return value;
};

/** Returns a whole number from zero up. BIGINT arrives as text. Throws `BrokenRow` for any other value. */
export const wholeIn = (row: Row, column: string): number => {
  const value = row[column];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new BrokenRow(`the column ${column} holds no whole number`);
};

/** Returns the text of a column, or '' for null and for a column that the table does not have. */
export const textIn = (row: Row, column: string): string => {
  const value = row[column];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
};

// Converts the names of people and devices between whatsmeow and the client library, and reads the mapping between numbers and LIDs.

/** `user[_domain]`, which both programs write in the same form. */
const isUser = /^[^\s:@.]+$/;
const isDevice = /^\d+$/;

/** Suffixes of a user. A number has no suffix. */
const lidDomain = '_1';
const hostedDomain = '_128';
const hostedLidDomain = '_129';

/** Splits `user:device` of whatsmeow at its last colon. Returns null for another text. */
export const addressOf = (text: string): { readonly user: string; readonly device: string } | null => {
  const at = text.lastIndexOf(':');
  const [user, device] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && isUser.test(user) && isDevice.test(device) ? { user, device } : null;
};

/** Returns the user of an address or a jid, without domain, agent and device. */
export const bareUser = (text: string): string => /^[^_.:@]*/.exec(text)?.[0] ?? '';

/** The LIDs of people by their phone numbers, both without the part after the `@`. */
export interface LidMap {
  readonly lidOf: ReadonlyMap<string, string>;
}

/** Returns the LID under which the library looks for sessions and identities of this user. Returns null for LIDs and for numbers without a mapping. */
export const lidUserOf = ({ lidOf }: LidMap, user: string): string | null => {
  const [bare = '', domain] = user.split('_');
  const lid = lidOf.get(bare);
  if (lid === undefined) return null;
  if (domain === undefined) return `${lid}${lidDomain}`;
  return `_${domain}` === hostedDomain ? `${lid}${hostedLidDomain}` : null;
};

/** Returns the jid under which the library looks for the privacy token of a person. */
export const tokenJid = ({ lidOf }: LidMap, jid: string): string => {
  const lid = jid.endsWith('@s.whatsapp.net') ? lidOf.get(bareUser(jid)) : undefined;
  return lid === undefined ? jid : `${lid}@lid`;
};

/** Converts the jid of an own device to the form of schema 5 and later: `number.0:device` becomes `number:device`. */
export const deviceJid = (jid: string): string => jid.replace(/\.0(?=[:@])/, '');

// Public halves of the private keys that whatsmeow stores alone.

/** The bytes of PKCS #8 that come before the 32 bytes of an X25519 key (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const keyLength = 32;

/** Computes the public half in about 0.15 ms. The private key is not clamped, because this would not change the public key. */
export const keyPairOf = (secret: Buffer): KeyPair => {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' });
  return { private: secret, public: createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-keyLength) };
};

/** Puts the type of the curve before a public key, as the library stores identities. */
export const withCurveType = (key: Buffer): Buffer => Buffer.concat([Buffer.from([5]), key]);
