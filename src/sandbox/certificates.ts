/**
 * The Noise identity of the simulated platform: key pairs that are stored in the data folder, and the certificate chain from the root key to the static key.
 */
import { Curve, proto, type KeyPair } from '@whiskeysockets/baileys';
import type { ChainForgery } from './interface.ts';
import { sign } from './signal/identity.ts';
import type { Records } from './store/database.ts';

export interface ServerIdentity {
  /** The root key that clients must pin. */
  readonly root: Uint8Array;
  readonly staticKey: KeyPair;
  /** Encoded `CertChain`. */
  readonly chain: Uint8Array;
  /** Makes a chain that clients must refuse. */
  forge(how: ChainForgery): Uint8Array;
}

interface Keys {
  readonly root: KeyPair;
  readonly intermediate: KeyPair;
  readonly leaf: KeyPair;
}

const { NoiseCertificate } = proto.CertChain;
const validitySeconds = 10 * 365 * 24 * 3600;
const daySeconds = 24 * 3600;

export function openIdentity(records: Records): ServerIdentity {
  const keys = records.get<Keys>('setting', 'noise') ?? {
    root: Curve.generateKeyPair(),
    intermediate: Curve.generateKeyPair(),
    leaf: Curve.generateKeyPair(),
  };
  records.put('setting', 'noise', keys);
  return { root: keys.root.public, staticKey: keys.leaf, chain: makeChain(keys), forge: (how) => makeChain(keys, how) };
}

/**
 * Makes the certificate chain. The intermediate certificate has the issuer serial 0, because clients accept only this value. `how` selects a forgery. Without
 * `how`, the chain is valid.
 */
function makeChain({ root, intermediate, leaf }: Keys, how?: ChainForgery): Uint8Array {
  const stranger = Curve.generateKeyPair();
  const begins = Math.floor(Date.now() / 1000) - 60;
  const validity = (one: 'leaf' | 'intermediate'): Validity => {
    if (how === `${one}Expired`) return { notBefore: begins - daySeconds, notAfter: begins };
    const notBefore = how === `${one}Early` ? begins + daySeconds : begins;
    return { notBefore, notAfter: notBefore + validitySeconds };
  };
  const leafDetails = {
    serial: 2,
    issuerSerial: how === 'leafIssuer' ? 7 : 1,
    key: (how === 'leafKey' ? stranger : leaf).public,
    ...validity('leaf'),
  };
  const details = { serial: 1, issuerSerial: how === 'issuer' ? 7 : 0, key: intermediate.public, ...validity('intermediate') };
  return proto.CertChain.encode({
    leaf: certificate(leafDetails, how === 'signature' ? stranger : intermediate),
    intermediate: certificate(details, how === 'root' ? stranger : root),
  }).finish();
}

/** The validity of a certificate. Both times are in Unix seconds. */
interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

function certificate(subject: proto.CertChain.NoiseCertificate.IDetails, issuer: KeyPair): proto.CertChain.INoiseCertificate {
  const details = NoiseCertificate.Details.encode(subject).finish();
  return { details, signature: sign(issuer.private, details) };
}
