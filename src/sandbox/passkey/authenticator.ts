/** A passkey of an account, and a built-in authenticator for owners without a browser. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Assertion, RequestOptions } from '../interface.ts';

/** The relying party id of the platform in WebAuthn. */
export const rpId = 'whatsapp.com';
/** The origin of the page whose assertions the platform accepts. */
export const webOrigin = 'https://web.whatsapp.com';

export interface Passkey {
  /** The credential id, base64url. */
  readonly id: string;
  /** The public key in COSE form, base64url. */
  readonly publicKey: string;
  /** The signature counter in the last assertion that the platform verified. */
  counter: number;
  /** Number of signatures of the built-in authenticator. */
  signatures?: number;
  /** The private key, as PKCS #8 in PEM; absent for the key of a real authenticator. */
  readonly privateKey?: string;
}

const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();

/** Encodes an ES256 key as the COSE map {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9053, section 7.1.1). */
const coseKey = (x: Buffer, y: Buffer): Buffer =>
  Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), x, Buffer.from('225820', 'hex'), y]);

/** Makes a passkey whose private key the simulated platform keeps. */
export function makePasskey(): Passkey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return {
    id: randomBytes(16).toString('base64url'),
    publicKey: coseKey(Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')).toString('base64url'),
    counter: 0,
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  };
}

/** The flags for a present and verified user (W3C Web Authentication Level 3, section 6.1). */
const presentAndVerified = 0x05;

/** Signs a challenge like a browser on a page of `origin`, and counts the signature. */
export function signAssertion(passkey: Passkey, privateKey: string, options: RequestOptions, origin: string): Assertion {
  passkey.signatures = (passkey.signatures ?? 0) + 1;
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(passkey.signatures);
  const authenticatorData = Buffer.concat([sha256(options.rpId), Buffer.from([presentAndVerified]), counter]);
  const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge: options.challenge, origin, crossOrigin: false }));
  const signature = createSign('sha256')
    .update(Buffer.concat([authenticatorData, sha256(clientData)]))
    .sign(privateKey);
  return {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: null,
    },
  };
}
