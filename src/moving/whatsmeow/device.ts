/** A row of `whatsmeow_device` as credentials of the client library. */
import type { AuthenticationCreds, SignedKeyPair } from '@whiskeysockets/baileys';
import { completeCredentials } from '../credentials.ts';
import { deviceJid } from './addresses.ts';
import { keyPairOf, withCurveType } from './curve.ts';
import { BrokenRow, bytesIn, type Row, textIn, wholeIn } from './rows.ts';

/** Columns that every schema has, and those that came later (`lid` with 7). */
export const deviceColumns: readonly string[] =
  `jid registration_id noise_key identity_key signed_pre_key signed_pre_key_id signed_pre_key_sig
   adv_key adv_details adv_account_sig adv_account_sig_key adv_device_sig lid platform business_name push_name`.split(/\s+/);

/** The facts of the device from other tables. */
export interface DeviceFacts {
  /** The highest id of a pre-key; 0 without any. */
  readonly lastPreKeyId: number;
  /** Id of the newest key of the shared state; null without any. */
  readonly newestKeyId: Buffer | null;
}

/** `number:device@s.whatsapp.net`: without the device the platform refuses the login. */
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

/** Converts a row. Throws `BrokenRow` when a part is missing without which the device cannot log in, read or write. */
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
