/** The keys of a simulated phone, and the bundle with which a Signal session with the phone starts. */
import { Curve, generateRegistrationId, type KeyPair, signedKeyPair, type SignedKeyPair } from '@whiskeysockets/baileys';
import { verify as verifyCurve } from 'curve25519-js';
import { type BinaryNode, child, childBytes, childNumber, children, node, uint } from '../nodes.ts';
import type { PreKey, SignedPreKey } from '../store/keys.ts';

// XEdDSA signatures. Baileys' verifier accepts every signature and is therefore not used. This verifier shares no code with the gateway's verifier. The
// simulated platform is the oracle of the gateway's tests, which would not notice a fault of shared code.

export function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  return verifyCurve(publicKey, message, signature);
}

export const sign = (privateKey: Uint8Array, message: Uint8Array): Uint8Array => Curve.sign(privateKey, message);

/** Puts Signal's key type byte in front of a public key. Signed texts and sessions need this byte. */
export const withType = (publicKey: Uint8Array): Buffer => Buffer.concat([Buffer.from([5]), publicKey]);

/** The phone's private keys. They are stored in the data folder. */
export interface PhoneKeys {
  readonly identity: KeyPair;
  readonly signedPreKey: SignedKeyPair;
  readonly registrationId: number;
  /** The id of the next one-time key. */
  nextPreKey: number;
}

/** The public keys from which a session with a device starts. */
export interface Bundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signedPreKey: SignedPreKey;
  readonly preKey?: PreKey | undefined;
}

export function makePhoneKeys(): PhoneKeys {
  const identity = Curve.generateKeyPair();
  return { identity, signedPreKey: signedKeyPair(identity, 1), registrationId: generateRegistrationId() || 1, nextPreKey: 1 };
}

const keyNode = (tag: string, key: { readonly id: number; readonly value: Uint8Array; readonly signature?: Uint8Array }): BinaryNode =>
  node(tag, {}, [
    node('id', {}, uint(key.id, 3)),
    node('value', {}, key.value),
    ...(key.signature ? [node('signature', {}, key.signature)] : []),
  ]);

/** Makes the nodes of a key bundle, for answers to key requests and for retry receipts. */
export const bundleNodes = (bundle: Bundle): BinaryNode[] => [
  node('registration', {}, uint(bundle.registrationId, 4)),
  node('type', {}, Buffer.from([5])),
  node('identity', {}, bundle.identity),
  keyNode('skey', bundle.signedPreKey),
  ...(bundle.preKey ? [keyNode('key', bundle.preKey)] : []),
];

/** Reads the children `<key>` of an upload of one-time keys. */
export const readPreKeys = (list: BinaryNode | undefined): PreKey[] =>
  children(list, 'key').flatMap((one) => {
    const id = childNumber(one, 'id', 3);
    const value = childBytes(one, 'value', 32);
    return id === undefined || !value ? [] : [{ id, value }];
  });

export function readSignedPreKey(parent: BinaryNode | undefined): SignedPreKey | undefined {
  const skey = child(parent, 'skey');
  const id = childNumber(skey, 'id', 3);
  const value = childBytes(skey, 'value', 32);
  const signature = childBytes(skey, 'signature', 64);
  return id === undefined || !value || !signature ? undefined : { id, value, signature };
}

/** Reads the key bundle of a retry receipt; `undefined` when it has none. */
export function readRetryBundle(receipt: BinaryNode): Bundle | undefined {
  const keys = child(receipt, 'keys');
  const registrationId = childNumber(receipt, 'registration', 4);
  const identity = childBytes(keys, 'identity', 32);
  const signedPreKey = readSignedPreKey(keys);
  if (!keys || registrationId === undefined || !identity || !signedPreKey) return undefined;
  const preKey = readPreKeys(keys)[0];
  return { registrationId, identity, signedPreKey, preKey };
}

/** Returns the bundle in the form of the Signal library. */
export const toSession = ({ registrationId, identity, signedPreKey, preKey }: Bundle) => ({
  registrationId,
  identityKey: withType(identity),
  signedPreKey: { keyId: signedPreKey.id, publicKey: withType(signedPreKey.value), signature: Buffer.from(signedPreKey.signature) },
  ...(preKey ? { preKey: { keyId: preKey.id, publicKey: withType(preKey.value) } } : {}),
});
