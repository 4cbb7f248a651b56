/** Rows of the key tables of whatsmeow as keys of the client library. */
import { proto } from '@whiskeysockets/baileys';
import type { SessionKey } from '../session.ts';
import { addressOf, bareUser, type LidMap, lidUserOf, tokenJid } from './addresses.ts';
import { keyPairOf, withCurveType } from './curve.ts';
import { BrokenRow, bytesIn, type Row, textIn, wholeIn } from './rows.ts';
import { senderKeyOf } from './sender-key-record.ts';
import { sessionRecordOf } from './session-record.ts';

const keyLength = 32;

export const preKeyOf = (row: Row): SessionKey => ({
  type: 'pre-key',
  id: String(wholeIn(row, 'key_id')),
  value: keyPairOf(bytesIn(row, 'key', keyLength)),
});

/**
 * Returns the address under which the library looks for a session or an identity: a number has none of its own once its LID is known. Returns null when
 * a row under the LID exists, which is the one that both programs use.
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

/** Returns null when nothing of the record can be carried. Throws `BrokenRow` and `UnreadableRecord`. */
export const sessionOf = (row: Row, id: string, now: number): SessionKey | null => {
  const value = sessionRecordOf(bytesIn(row, 'session'), now);
  return value && { type: 'session', id, value };
};

/** Returns null for an empty record. The sender keeps its name: in groups that are addressed by numbers the library looks under the number. */
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
    // The parser's sentence says where in the bytes it stopped.
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

/** Adds the library's index to the privacy tokens. Of a number and its LID the newer token counts. */
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
