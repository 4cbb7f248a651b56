/** The cryptography of pairing by code. Both sides encrypt their ephemeral keys with a key that is derived from the code. */
import { aesDecryptCTR, aesDecryptGCM, aesEncryptCTR, Curve, derivePairingCodeKey, hkdf, type KeyPair } from '@whiskeysockets/baileys';
import type { Digits } from './face.ts';
import { childBytes, type BinaryNode } from './nodes.ts';
import type { Random } from './random.ts';

/** A client's first request. `wrapped`: salt (32 bytes), iv (16), encrypted ephemeral key (32). */
export interface CodeRequest {
  readonly number: Digits;
  readonly ref: string;
  readonly wrapped: Uint8Array;
  /** Unix milliseconds. */
  readonly askedAt: number;
}

const noText = Buffer.alloc(0);

/** The phone's step. With a wrong code the companion's ephemeral key comes out wrong, which is noticed in the next step. */
export async function wrapEphemeral(
  code: string,
  request: CodeRequest,
  random: Random,
): Promise<{ ephemeral: KeyPair; companionEphemeral: Buffer; wrapped: Buffer }> {
  const typed = code.toUpperCase();
  const theirs = Buffer.from(request.wrapped);
  const companionEphemeral = aesDecryptCTR(
    theirs.subarray(48, 80),
    await derivePairingCodeKey(typed, theirs.subarray(0, 32)),
    theirs.subarray(32, 48),
  );
  const ephemeral = Curve.generateKeyPair();
  const salt = random.bytes(32);
  const iv = random.bytes(16);
  const wrapped = Buffer.concat([salt, iv, aesEncryptCTR(ephemeral.public, await derivePairingCodeKey(typed, salt), iv)]);
  return { ephemeral, companionEphemeral, wrapped };
}

/** Decrypts the client's last message. Returns `undefined` when the code was wrong. */
export function openBundle(
  finish: BinaryNode | undefined,
  ephemeral: KeyPair,
  companionEphemeral: Uint8Array,
  identity: KeyPair,
): { companionIdentity: Buffer; advSecret: Buffer } | undefined {
  const bundle = childBytes(finish, 'link_code_pairing_wrapped_key_bundle', 156);
  if (!bundle) return undefined;
  const shared = Curve.sharedKey(ephemeral.private, companionEphemeral);
  const info = 'link_code_pairing_key_bundle_encryption_key';
  const key = Buffer.from(hkdf(shared, 32, { salt: bundle.subarray(0, 32), info }));
  try {
    const plain = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), noText);
    const companionIdentity = plain.subarray(0, 32);
    const material = Buffer.concat([shared, Curve.sharedKey(identity.private, companionIdentity), plain.subarray(64, 96)]);
    return { companionIdentity, advSecret: Buffer.from(hkdf(material, 32, { info: 'adv_secret' })) };
  } catch {
    // The authentication code differs because the two sides used different pairing codes.
    return undefined;
  }
}
