/** Converts rows of `whatsmeow_device` and of the key tables to credentials and keys of the client library. */
import { type AuthenticationCreds, proto, type SignedKeyPair } from '@whiskeysockets/baileys';
import { completeCredentials } from '../library-form.ts';
import type { SessionKey } from '../session.ts';
import {
  addressOf,
  bareUser,
  BrokenRow,
  bytesIn,
  deviceJid,
  keyPairOf,
  type LidMap,
  lidUserOf,
  type Row,
  textIn,
  tokenJid,
  wholeIn,
  withCurveType,
} from './rows.ts';
import { senderKeyOf, sessionRecordOf } from './records.ts';

// Converts a row of `whatsmeow_device` to credentials of the client library.

/** The columns that are read. Older schemas lack some of them (`lid` exists since schema 7). */
export const deviceColumns: readonly string[] =
  `jid registration_id noise_key identity_key signed_pre_key signed_pre_key_id signed_pre_key_sig
   adv_key adv_details adv_account_sig adv_account_sig_key adv_device_sig lid platform business_name push_name`.split(/\s+/);

/** The facts of the device from other tables. */
export interface DeviceFacts {
  /** The highest id of a pre-key; 0 if there are none. */
  readonly lastPreKeyId: number;
  /** The id of the newest key of the shared state; null if there are none. */
  readonly newestKeyId: Buffer | null;
}

/** The form `number:device@s.whatsapp.net`. The platform refuses a login without the device. */
const linkedDevice = /^\d+:[1-9]\d*@s\.whatsapp\.net$/;
const keyLength = 32;
const signatureLength = 64;
const registrationBits = 0xffff_ffff;

const accountOf = (row: Row): NonNullable<AuthenticationCreds['account']> => ({
  details: bytesIn(row, 'adv_details'),
  accountSignatureKey: bytesIn(row, 'adv_account_sig_key', keyLength),
  accountSignature: bytesIn(row, 'adv_account_sig', signatureLength),
  deviceSignature: bytesIn(row, 'adv_device_sig', signatureLength),
});

const pairIn = (row: Row, column: string) => keyPairOf(bytesIn(row, column, keyLength));

const signedPreKeyOf = (row: Row): SignedKeyPair => ({
  keyPair: pairIn(row, 'signed_pre_key'),
  signature: bytesIn(row, 'signed_pre_key_sig', signatureLength),
  keyId: wholeIn(row, 'signed_pre_key_id'),
});

/** Converts a row. Throws `BrokenRow` if a part is missing that the device needs to log in, read or write. */
export const credentialsOf = (row: Row, { lastPreKeyId, newestKeyId }: DeviceFacts): AuthenticationCreds => {
  const id = deviceJid(textIn(row, 'jid'));
  if (!linkedDevice.test(id)) throw new BrokenRow('the column jid names no linked device');
  const registrationId = wholeIn(row, 'registration_id');
  if (registrationId > registrationBits) throw new BrokenRow('the column registration_id holds too large a number');
  const account = accountOf(row);
  const lid = deviceJid(textIn(row, 'lid'));
  const name = textIn(row, 'push_name') || textIn(row, 'business_name');
  const platform = textIn(row, 'platform');
  const identifierKey = withCurveType(bytesIn(row, 'adv_account_sig_key', keyLength));
  return completeCredentials({
    noiseKey: pairIn(row, 'noise_key'),
    signedIdentityKey: pairIn(row, 'identity_key'),
    signedPreKey: signedPreKeyOf(row),
    registrationId,
    account,
    me: { id, ...(lid !== '' && { lid }), ...(name !== '' && { name }) },
    advSecretKey: bytesIn(row, 'adv_key').toString('base64'),
    ...(platform !== '' && { platform }),
    ...(lid !== '' && { signalIdentities: [{ identifier: { name: lid, deviceId: 0 }, identifierKey }] }),
    nextPreKeyId: lastPreKeyId + 1,
    firstUnuploadedPreKeyId: lastPreKeyId + 1,
    ...(newestKeyId && { myAppStateKeyId: newestKeyId.toString('base64') }),
  });
};

// Converts rows of the key tables to keys of the client library.

export const preKeyOf = (row: Row): SessionKey => ({
  type: 'pre-key',
  id: String(wholeIn(row, 'key_id')),
  value: keyPairOf(bytesIn(row, 'key', keyLength)),
});

/**
 * Returns the address under which the library looks for a session or an identity. Once the LID of a number is known, the library uses the LID. Returns null if
 * the number also has a row under its LID. whatsmeow and the library use that row, so the row under the number is not copied.
 */
export const libraryAddress = (theirId: string, map: LidMap, exists: (theirId: string) => boolean): string | null => {
  const address = addressOf(theirId);
  if (address === null) throw new BrokenRow('the column their_id names no device');
  const lidUser = lidUserOf(map, address.user);
  if (lidUser === null) return `${address.user}.${address.device}`;
  return exists(`${lidUser}:${address.device}`) ? null : `${lidUser}.${address.device}`;
};

export const identityOf = (row: Row, id: string): SessionKey => ({
  type: 'identity-key',
  id,
  value: withCurveType(bytesIn(row, 'identity', keyLength)),
});

/** Converts a session. Returns null if the record has no data to copy. Throws `BrokenRow` and `UnreadableRecord`. */
export const sessionOf = (row: Row, id: string, now: number): SessionKey | null => {
  const value = sessionRecordOf(bytesIn(row, 'session'), now);
  return value && { type: 'session', id, value };
};

/**
 * Converts a sender key. Returns null for an empty record. The number of the sender is not replaced by its LID. In groups that use numbers, the library looks
 * for the key under the number.
 */
export const senderKeyIn = (row: Row): SessionKey | null => {
  const address = addressOf(textIn(row, 'sender_id'));
  if (address === null) throw new BrokenRow('the column sender_id names no device');
  const value = senderKeyOf(bytesIn(row, 'sender_key'));
  return value && { type: 'sender-key', id: `${textIn(row, 'chat_id')}::${address.user}::${address.device}`, value };
};

const fingerprintOf = (bytes: Buffer): proto.Message.IAppStateSyncKeyFingerprint => {
  try {
    return proto.Message.AppStateSyncKeyFingerprint.decode(bytes);
  } catch {
    // The error text of the parser is not used, because it names the position at which the parser stopped.
    throw new BrokenRow('the column fingerprint cannot be read');
  }
};

export const sharedKeyOf = (row: Row): SessionKey => ({
  type: 'app-state-sync-key',
  id: bytesIn(row, 'key_id').toString('base64'),
  value: proto.Message.AppStateSyncKeyData.fromObject({
    keyData: bytesIn(row, 'key_data'),
    fingerprint: fingerprintOf(bytesIn(row, 'fingerprint')),
    timestamp: wholeIn(row, 'timestamp'),
  }),
});

/** A privacy token under the jid of its person, with its time in Unix seconds. */
interface Token {
  readonly id: string;
  readonly at: number;
  readonly value: { readonly token: Buffer; readonly timestamp?: string; readonly senderTimestamp?: number };
}

export const tokenOf = (row: Row, map: LidMap): Token => {
  const id = tokenJid(map, textIn(row, 'their_jid'));
  if (bareUser(id) === '') throw new BrokenRow('the column their_jid names nobody');
  const at = wholeIn(row, 'timestamp');
  const sentAt = row['sender_timestamp'] === null || row['sender_timestamp'] === undefined ? 0 : wholeIn(row, 'sender_timestamp');
  const times = { ...(at > 0 && { timestamp: String(at) }), ...(sentAt > 0 && { senderTimestamp: sentAt }) };
  return { id, at, value: { token: bytesIn(row, 'token'), ...times } };
};

/** Adds the library's index to the privacy tokens. If a number and its LID both have a token, the newer one counts. */
export const tokenKeys = (tokens: readonly Token[]): readonly SessionKey[] => {
  if (tokens.length === 0) return [];
  const newest = new Map(tokens.toSorted((a, b) => a.at - b.at).map(({ id, value }) => [id, value]));
  const index = { token: Buffer.from(JSON.stringify([...newest.keys()])) };
  return [...newest, ['__index', index] as const].map(([id, value]) => ({ type: 'tctoken', id, value }));
};

export const mappingKeys = ({ lidOf }: LidMap): readonly SessionKey[] =>
  [...lidOf].flatMap(([number, lid]) => [
    { type: 'lid-mapping', id: number, value: lid },
    { type: 'lid-mapping', id: `${lid}_reverse`, value: number },
  ]);
