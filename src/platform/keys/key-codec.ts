/** Keys and credentials as JSON text and back: Baileys' own format, so that stores of other programs can be carried over. */
import { type AuthenticationCreds, BufferJSON, type KeyPair, proto } from '@whiskeysockets/baileys';
import { finishedType } from './finished-names.ts';
import { tokenPageType } from './contact-tokens.ts';

/** Base64 without the detour over a replacer: 812 of these are made in one go. */
const bytes = (value: Uint8Array): string =>
  `{"type":"Buffer","data":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`;

export const encodeKey = (value: unknown): string =>
  value instanceof Uint8Array ? bytes(value) : JSON.stringify(value, BufferJSON.replacer);

/** The one type whose value is an object of the protocol, not plain data. */
const protocolType = 'app-state-sync-key';

/** Types without bytes: pages of thousands of names, each of which a reviver would look at. */
const textTypes: ReadonlySet<string> = new Set([finishedType, tokenPageType, 'sender-key-memory']);

export const decodeKey = (type: string, text: string): unknown => {
  const value: unknown = JSON.parse(text, textTypes.has(type) ? undefined : BufferJSON.reviver);
  return type === protocolType && typeof value === 'object' && value !== null
    ? proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>)
    : value;
};

export const encodeCredentials = (creds: AuthenticationCreds): string => JSON.stringify(creds, BufferJSON.replacer);

/** Null for text that is JSON but no credentials. Throws what JSON.parse throws. */
export const decodeCredentials = (text: string): AuthenticationCreds | null => {
  const value = JSON.parse(text, BufferJSON.reviver) as Partial<AuthenticationCreds> | null;
  return value?.noiseKey && value.signedIdentityKey && value.signedPreKey ? (value as AuthenticationCreds) : null;
};

export const encodeKeyPair = (pair: KeyPair): string => `{"public":${bytes(pair.public)},"private":${bytes(pair.private)}}`;
