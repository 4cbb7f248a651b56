/** The platform's Noise identity: a root key of its own, stored in the data folder, and the certificate chain that it signed. */
import { Curve, proto, type KeyPair } from '@whiskeysockets/baileys';
import { sign } from './signatures.ts';
import type { Records } from './store/database.ts';

export interface ServerIdentity {
  /** The root key that clients must pin. */
  readonly root: Uint8Array;
  readonly staticKey: KeyPair;
  /** Encoded `CertChain`. */
  readonly chain: Uint8Array;
  /** A chain with correct signatures whose intermediate certificate names an issuer that clients do not accept. */
  readonly wrongChain: Uint8Array;
}

interface Keys {
  readonly root: KeyPair;
  readonly intermediate: KeyPair;
  readonly leaf: KeyPair;
}

const { NoiseCertificate } = proto.CertChain;
const tenYears = 10 * 365 * 24 * 3600;

export function openIdentity(records: Records): ServerIdentity {
  const keys = records.get<Keys>('setting', 'noise') ?? {
    root: Curve.generateKeyPair(),
    intermediate: Curve.generateKeyPair(),
    leaf: Curve.generateKeyPair(),
  };
  records.put('setting', 'noise', keys);
  return { root: keys.root.public, staticKey: keys.leaf, chain: makeChain(keys, 0), wrongChain: makeChain(keys, 7) };
}

/** Clients accept issuer serial 0 only. */
function makeChain({ root, intermediate, leaf }: Keys, issuerSerial: number): Uint8Array {
  return proto.CertChain.encode({
    leaf: certificate({ serial: 2, issuerSerial: 1, key: leaf.public }, intermediate),
    intermediate: certificate({ serial: 1, issuerSerial, key: intermediate.public }, root),
  }).finish();
}

function certificate(
  subject: { readonly serial: number; readonly issuerSerial: number; readonly key: Uint8Array },
  issuer: KeyPair,
): proto.CertChain.INoiseCertificate {
  const notBefore = Math.floor(Date.now() / 1000) - 60;
  const details = NoiseCertificate.Details.encode({ ...subject, notBefore, notAfter: notBefore + tenYears }).finish();
  return { details, signature: sign(issuer.private, details) };
}
