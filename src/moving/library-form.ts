/**
 * Reads credentials and keys in the formats of programs that use the client library: JSON with several encodings of bytes, fields of Redis hashes, and rows of
 * tables.
 */
import { readFile, stat } from 'node:fs/promises';
import { type AuthenticationCreds, BufferJSON, initAuthCreds, proto } from '@whiskeysockets/baileys';
import { type CarriedSettings, type Found, type KeyType, noSettings, type SessionKey, SourceFault, type SourceState } from './session.ts';

// Completes the credentials of sources that store only a part of the fields that the client library expects.

/** The credentials that every source must have: identity, registration and the signature of the account. */
type NeededCredentials = Pick<AuthenticationCreds, 'noiseKey' | 'signedIdentityKey' | 'signedPreKey' | 'registrationId' | 'me' | 'account'>;

/**
 * Fills in values that only a pairing or a connection reads (`pairingEphemeralKeyPair`, account settings) with the defaults of the library.
 * `accountSyncCounter` is 1. At 0 the library waits 20 s for the history, which the platform sends only after a pairing.
 */
export const completeCredentials = (given: NeededCredentials & Partial<AuthenticationCreds>): AuthenticationCreds => ({
  ...initAuthCreds(),
  accountSyncCounter: 1,
  ...given,
});

/** The key types, the longest first, because `sender-key` is a prefix of `sender-key-memory`. */
const keyTypes: readonly KeyType[] = [
  'app-state-sync-version',
  'app-state-sync-key',
  'sender-key-memory',
  'identity-key',
  'device-list',
  'lid-mapping',
  'sender-key',
  'pre-key',
  'session',
  'tctoken',
];

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

/** Splits `<type>-<id>`. Returns null for an unknown type, such as a type that a fork of the library added. */
export const splitName = (name: string): { readonly type: KeyType; readonly id: string } | null => {
  const type = keyTypes.find((one) => name.startsWith(`${one}-`));
  return type === undefined ? null : { type, id: name.slice(type.length + 1) };
};

/**
 * Returns the id of the key in a file name. The library replaces `/` by `__` and `:` by `-`. Only ids of keys of the shared state, which are base64, have
 * slashes. Only ids of sender keys have colons (`group::user::device`), and old ids of groups also have hyphens.
 */
export const idOfFile = (type: KeyType, name: string): string => {
  if (type === 'app-state-sync-key') return name.replaceAll('__', '/');
  if (type !== 'sender-key') return name;
  const parts = name.split('--');
  return parts.length < 3 ? name : [parts.slice(0, -2).join('--'), ...parts.slice(-2)].join('::');
};

/** The largest number of entries in a list that is read as bytes. A longer list is no key. */
const longestBytes = 1 << 20;

const isByteList = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length <= longestBytes && value.every((one) => Number.isInteger(one) && one >= 0 && one <= 255);

/**
 * Reads bytes in any encoding: a Buffer, base64 text, a list of numbers, `{type, data}` with base64 or a list, or an object of indices. Returns null for other
 * values.
 */
export const bytesOf = (value: unknown): Buffer | null => {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value === 'string') return /^[A-Za-z0-9+/_-]*={0,2}$/.test(value) ? Buffer.from(value, 'base64') : null;
  if (isByteList(value)) return Buffer.from(value);
  if (!isRecord(value)) return null;
  if (value['type'] === 'Buffer') return bytesOf(value['data'] ?? value['value']);
  const list = Object.values(value);
  return list.length > 0 && Object.keys(value).every((key, at) => key === String(at)) && isByteList(list) ? Buffer.from(list) : null;
};

/**
 * Parses JSON that was encoded one to three times. A text that is no JSON, such as a text of digits, stays a text. Throws `SourceFault`, whose text begins with
 * `what`.
 */
export const readJson = (text: string, what: string): unknown => {
  let value: unknown;
  try {
    value = JSON.parse(text, BufferJSON.reviver);
    for (let depth = 0; typeof value === 'string' && /^\s*[[{"]/.test(value) && depth < 2; depth += 1)
      value = JSON.parse(value, BufferJSON.reviver);
  } catch {
    throw new SourceFault(`${what} cannot be read: the text is cut off or is no JSON`);
  }
  return value;
};

const need = (value: unknown, what: string, ...lengths: readonly number[]): Buffer => {
  const bytes = bytesOf(value);
  if (bytes === null || !lengths.includes(bytes.length)) throw new SourceFault(`the credentials have no valid ${what}`);
  return bytes;
};

const pairOf = (value: unknown, what: string): { public: Buffer; private: Buffer } => {
  const pair = isRecord(value) ? value : {};
  return { public: need(pair['public'], what, 32), private: need(pair['private'], what, 32) };
};

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const whole = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const accountOf = (value: unknown): proto.IADVSignedDeviceIdentity => {
  const account = isRecord(value) ? value : {};
  return {
    details: bytesOf(account['details']) ?? Buffer.alloc(0),
    accountSignatureKey: need(account['accountSignatureKey'], 'key of the account signature', 32, 0),
    accountSignature: need(account['accountSignature'], 'account signature', 64),
    deviceSignature: need(account['deviceSignature'], 'device signature', 64),
  };
};

/** The form `number:device@s.whatsapp.net`. Very old stores have `number.0:device`. */
const deviceJid = /^(\d{5,20})(?:\.0)?(?::(\d{1,5}))?@s\.whatsapp\.net$/;

const meOf = (value: unknown): NonNullable<AuthenticationCreds['me']> => {
  const me = isRecord(value) ? value : {};
  const [, number, device] = deviceJid.exec(text(me['id']) ?? '') ?? [];
  if (number === undefined) throw new SourceFault('the credentials name no account');
  if (device === undefined) throw new SourceFault('the credentials name no linked device');
  const [lid, name] = [text(me['lid']), text(me['name'])];
  return { id: `${number}:${device}@s.whatsapp.net`, ...(lid && { lid }), ...(name && { name }) };
};

/** Returns the fields that are copied. All other fields are new or follow from the copied ones. */
const carried = (value: Readonly<Record<string, unknown>>): Partial<AuthenticationCreds> => {
  const [advSecretKey, myAppStateKeyId, platform] = [text(value['advSecretKey']), text(value['myAppStateKeyId']), text(value['platform'])];
  const routing = bytesOf(value['routingInfo']);
  const [next, first] = [whole(value['nextPreKeyId']), whole(value['firstUnuploadedPreKeyId'])];
  const settings = value['accountSettings'];
  return {
    ...(advSecretKey && { advSecretKey }),
    ...(myAppStateKeyId && { myAppStateKeyId }),
    ...(platform && { platform }),
    ...(routing && routing.length > 0 && { routingInfo: routing }),
    ...(next && { nextPreKeyId: next }),
    ...(first && { firstUnuploadedPreKeyId: first }),
    ...(isRecord(settings) && { accountSettings: { unarchiveChats: settings['unarchiveChats'] === true } }),
    accountSyncCounter: Math.max(1, whole(value['accountSyncCounter']) ?? 1),
    registered: value['registered'] === true,
  };
};

/** Reads credentials from parsed JSON. Throws `SourceFault` if the credentials cannot log in. */
export const readCredentials = (value: unknown): AuthenticationCreds => {
  if (!isRecord(value)) throw new SourceFault('the credentials are no object');
  if (!isRecord(value['me'])) throw new SourceFault('the session was never paired');
  if (!isRecord(value['account'])) throw new SourceFault('the pairing of the session was abandoned: it has no account signature');
  const signed = isRecord(value['signedPreKey']) ? value['signedPreKey'] : {};
  const registrationId = whole(value['registrationId']);
  if (registrationId === undefined) throw new SourceFault('the credentials have no registration id');
  return completeCredentials({
    ...carried(value),
    noiseKey: pairOf(value['noiseKey'], 'Noise key'),
    signedIdentityKey: pairOf(value['signedIdentityKey'], 'identity key'),
    signedPreKey: {
      keyPair: pairOf(signed['keyPair'], 'signed pre-key'),
      signature: need(signed['signature'], 'signature of the signed pre-key', 64),
      keyId: whole(signed['keyId']) ?? 1,
    },
    registrationId,
    me: meOf(value['me']),
    account: accountOf(value['account']),
  });
};

/** Reads a sender key, which is a Buffer of JSON text. Up to version 6.7.18 the library stored the list itself, which this function converts to JSON text. */
const senderKeyOf = (value: unknown): Buffer | null => {
  if (Array.isArray(value) && value.every((one) => isRecord(one))) return Buffer.from(JSON.stringify(value, BufferJSON.replacer));
  const bytes = bytesOf(value);
  return bytes !== null && bytes[0] === 0x5b ? bytes : null;
};

const syncKeyOf = (value: unknown): proto.Message.IAppStateSyncKeyData | null => {
  if (!isRecord(value)) return null;
  const keyData = bytesOf(value['keyData']);
  if (keyData === null || keyData.length === 0) return null;
  const print = isRecord(value['fingerprint']) ? value['fingerprint'] : null;
  return proto.Message.AppStateSyncKeyData.fromObject({ ...value, keyData, ...(print && { fingerprint: print }) });
};

const tokenOf = (value: unknown): unknown => {
  const token = isRecord(value) ? bytesOf(value['token']) : null;
  return token === null ? null : { ...(value as object), token };
};

/** Converters by type. A converter returns null for a damaged value. Keys of other types are left out, because the library makes them again. */
const converters: Readonly<Partial<Record<KeyType, (value: unknown) => unknown>>> = {
  'pre-key': (value) => {
    const pair = isRecord(value) ? [bytesOf(value['public']), bytesOf(value['private'])] : [];
    return pair[0]?.length === 32 && pair[1]?.length === 32 ? { public: pair[0], private: pair[1] } : null;
  },
  session: (value) => (isRecord(value) && isRecord(value['_sessions']) ? value : null),
  'sender-key': senderKeyOf,
  'identity-key': (value) => bytesOf(value),
  'app-state-sync-key': syncKeyOf,
  'lid-mapping': (value) => (typeof value === 'string' && /^\d{3,20}$/.test(value) ? value : null),
  tctoken: tokenOf,
};

/** Returns true if keys of this type are copied. Keys of other types are caches, or versions of the shared state, which is read again. */
export const isCarried = (type: KeyType): boolean => converters[type] !== undefined;

/** Reads a key from parsed JSON. Returns null if the value is not valid. */
export const readKey = (type: KeyType, id: string, value: unknown): SessionKey | null => {
  const converted = converters[type]?.(value) ?? null;
  return converted === null ? null : { type, id, value: converted };
};

// Reads sessions whose credentials and keys are single texts: the fields of a Redis hash, or the rows of a table.

/** Texts by the names of their fields. */
export type Hash = Readonly<Record<string, unknown>>;

/** Yields the keys in fields named `<type>-<id>`. */
export async function* keysInFields(fields: AsyncIterable<readonly [string, unknown]>): AsyncIterable<SessionKey> {
  for await (const [field, text] of fields) {
    const name = field === 'creds' ? null : splitName(field);
    if (name === null || !isCarried(name.type)) continue;
    const value = typeof text === 'string' ? readJson(text, `a ${name.type}`) : text;
    if (value === null || value === undefined) continue;
    const key = readKey(name.type, name.id, value);
    if (key === null) throw new SourceFault(`a ${name.type} of the store holds something else`);
    yield key;
  }
}

interface FieldFacts {
  readonly name: string;
  readonly settings?: CarriedSettings;
  readonly state?: SourceState;
  readonly notes?: readonly string[];
}

/** Makes a session from the text of its credentials. Its keys are read on demand. */
export const sessionOfFields = (creds: unknown, keys: () => AsyncIterable<SessionKey>, facts: FieldFacts): Found => {
  const { name, settings = noSettings, state = 'unknown', notes = [] } = facts;
  try {
    if (typeof creds !== 'string') throw new SourceFault('the store has no credentials of the session');
    return { found: 'session', name, creds: readCredentials(readJson(creds, 'the credentials')), keys, settings, state, notes };
  } catch (error) {
    if (error instanceof SourceFault) return { found: 'refused', name, reason: error.message };
    throw error;
  }
};

export async function* entriesOf(hash: Hash): AsyncIterable<readonly [string, unknown]> {
  yield* Object.entries(hash);
}

/** The largest size of a dump. A dump is read into memory as a whole. In bytes. */
const largestDump = 1 << 30;

const isHash = (value: unknown): value is Hash => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a dump of Redis: a JSON object with hashes by their keys. Throws `SourceFault` if the file has another form. */
export const readDump = async (path: string): Promise<Readonly<Record<string, Hash>>> => {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) throw new SourceFault('The dump of Redis is no file');
  if (found.size > largestDump) throw new SourceFault(`The dump of Redis is larger than ${largestDump >> 20} MB`);
  const dump = readJson(await readFile(path, 'utf8'), 'The dump of Redis');
  if (!isHash(dump) || !Object.values(dump).every(isHash))
    throw new SourceFault('The dump of Redis is no JSON object of hashes by their keys');
  return dump as Readonly<Record<string, Hash>>;
};
