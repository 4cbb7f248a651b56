/** Encodes and decodes keys and credentials as JSON in the format of Baileys, so that sessions of other programs can be imported. */
import { type AuthenticationCreds, BufferJSON, type KeyPair, proto } from '@whiskeysockets/baileys';
import { finishedType } from './finished-names.ts';
import { tokenPageType } from './contact-tokens.ts';

/** Encodes bytes as BufferJSON does, without a slow replacer. A pairing encodes 812 keys at once. */
const bytes = (value: Uint8Array): string =>
  `{"type":"Buffer","data":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`;

export const encodeKey = (value: unknown): string =>
  value instanceof Uint8Array ? bytes(value) : JSON.stringify(value, BufferJSON.replacer);

/** The only type whose value is a protobuf object instead of plain data. */
const protocolType = 'app-state-sync-key';

/**
 * Types whose values contain no bytes, so that they need no reviver. A value may have thousands of names, and `JSON.parse` would call the reviver for each
 * name.
 */
const textTypes: ReadonlySet<string> = new Set([finishedType, tokenPageType, 'sender-key-memory']);

export const decodeKey = (type: string, text: string): unknown => {
  const value: unknown = JSON.parse(text, textTypes.has(type) ? undefined : BufferJSON.reviver);
  return type === protocolType && typeof value === 'object' && value !== null
    ? proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>)
    : value;
};

export const encodeCredentials = (creds: AuthenticationCreds): string => JSON.stringify(creds, BufferJSON.replacer);

/** Decodes credentials. Returns null for JSON that is not credentials. Throws the error of `JSON.parse`. */
export const decodeCredentials = (text: string): AuthenticationCreds | null => {
  const value = JSON.parse(text, BufferJSON.reviver) as Partial<AuthenticationCreds> | null;
  return value?.noiseKey && value.signedIdentityKey && value.signedPreKey ? (value as AuthenticationCreds) : null;
};

export const encodeKeyPair = (pair: KeyPair): string => `{"public":${bytes(pair.public)},"private":${bytes(pair.private)}}`;
