/**
 * XEdDSA signatures. The verifier is not Baileys' own, which accepts every signature. It shares no code with the gateway's: the platform is the
 * oracle of the gateway's tests, and a fault of one implementation would pass unnoticed in both.
 */
import { Curve } from '@whiskeysockets/baileys';
import { verify as verifyCurve } from 'curve25519-js';

export function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  return verifyCurve(publicKey, message, signature);
}

export const sign = (privateKey: Uint8Array, message: Uint8Array): Uint8Array => Curve.sign(privateKey, message);

/** Puts Signal's key type byte in front of a public key, as signed texts and sessions need it. */
export const withType = (publicKey: Uint8Array): Buffer => Buffer.concat([Buffer.from([5]), publicKey]);
