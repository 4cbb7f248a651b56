/**
 * Verifies the signatures that the library does not verify. Its `Curve.verify` expects that libsignal throws for a wrong signature, but libsignal returns
 * false. The library checks neither the dates of the server's certificates nor their key. libsignal ignores the signature of a signed pre-key. Without these
 * checks, a man in the middle could impersonate the platform, the account's phone or a contact.
 */
import { createPublicKey, verify } from 'node:crypto';
import { createRequire } from 'node:module';
import { Curve, proto, WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { SenderKeyMessage } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-message.js';
import type { Log } from '#actors/ports.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { signatureErrors } from './outcomes.ts';

// The verification of XEdDSA signatures over Curve25519 (signal.org/docs/specifications/xeddsa). Node's Ed25519 takes 0.2 ms for a signature,
// and the library's plain JavaScript takes 7 ms.

const prime = 2n ** 255n - 19n;
const mod = (value: bigint): bigint => ((value % prime) + prime) % prime;

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  let square = mod(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
};

const fromLittleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`);
const toLittleEndian = (value: bigint): Buffer => Buffer.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toReversed());

/** Cached Edwards keys, by the bytes of their Montgomery form. The same signers sign many certificates and group messages. */
const converted = new LruMap<Buffer>(1000);

/** Returns the Edwards form of a Montgomery key, as a copy that the caller may change. */
const edwardsKey = (montgomery: Uint8Array): Buffer => {
  const name = Buffer.from(montgomery).toString('latin1');
  const known = converted.get(name);
  if (known !== undefined) return Buffer.from(known);
  const fresh = convert(montgomery);
  converted.set(name, fresh);
  return Buffer.from(fresh);
};

/** Converts a Montgomery key to the Edwards form: y = (u − 1) / (u + 1). */
const convert = (montgomery: Uint8Array): Buffer => {
  const masked = Uint8Array.from(montgomery);
  masked[31] = (masked[31] ?? 0) & 0x7f;
  const u = fromLittleEndian(masked);
  return toLittleEndian(mod((u - 1n) * power(u + 1n, prime - 2n)));
};

/** The prefix of a raw Ed25519 key in its DER encoding (RFC 8410). */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Verifies a signature. `key`: 32 bytes, or 33 with the version byte. `signature`: 64 bytes. Returns false for other lengths. */
export const verifySignature = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  const raw = key.length === 33 ? key.subarray(1) : key;
  if (raw.length !== 32 || signature.length !== 64) return false;
  const edwards = edwardsKey(raw);
  const plain = Buffer.from(signature);
  // The last bit of the signature is the sign of the signer's Edwards point, which the Montgomery form does not contain.
  edwards[31] = (edwards[31] ?? 0) | ((plain[63] ?? 0) & 0x80);
  plain[63] = (plain[63] ?? 0) & 0x7f;
  const publicKey = createPublicKey({ key: Buffer.concat([derPrefix, edwards]), format: 'der', type: 'spki' });
  return verify(null, message, publicKey, plain);
};

// The platform's Noise certificates. A root key, which is built into Baileys, signs an intermediate certificate. The intermediate key signs the certificate of
// the server's static key.

type Certificate = proto.CertChain.INoiseCertificate | null | undefined;

interface ShownChain {
  readonly leaf?: Certificate;
  readonly intermediate?: Certificate;
}

interface ChainRules {
  readonly root: Uint8Array;
  readonly rootSerial: number;
  /** The key whose possession the server proved in the handshake. */
  readonly staticKey: Uint8Array;
  /** The present time in Unix milliseconds. */
  readonly now: number;
}

const { Details } = proto.CertChain.NoiseCertificate;

/** Returns the contents of a certificate; null if `signer` did not sign it. */
const opened = (certificate: Certificate, signer: Uint8Array): proto.CertChain.NoiseCertificate.Details | null => {
  const { details, signature } = certificate ?? {};
  return details && signature && verifySignature(signer, details, signature) ? Details.decode(details) : null;
};

/**
 * Returns the fault of a certificate's dates, which are Unix seconds; null for valid dates. A missing date counts as 1970, so a certificate without an end has
 * expired.
 */
const datesProblem = ({ notBefore, notAfter }: proto.CertChain.NoiseCertificate.IDetails, now: number): string | null => {
  if (now < Number(notBefore ?? 0) * 1000) return 'is not valid yet';
  return now > Number(notAfter ?? 0) * 1000 ? 'has expired' : null;
};

/** Returns the first fault of a chain; null for a valid chain. The text contains no data of the chain. */
const chainProblem = ({ leaf, intermediate }: ShownChain, { root, rootSerial, staticKey, now }: ChainRules): string | null => {
  const middle = opened(intermediate, root);
  if (middle === null) return 'the intermediate certificate is not signed by the root';
  if (middle.issuerSerial !== rootSerial) return 'the intermediate certificate names another issuer than the root';
  const server = opened(leaf, middle.key ?? new Uint8Array());
  if (server === null) return 'the certificate of the server is not signed by the intermediate one';
  if (server.issuerSerial !== middle.serial) return 'the certificate of the server names another issuer than the intermediate one';
  if (!Buffer.from(staticKey).equals(server.key ?? new Uint8Array())) return 'the certificate is for another key than the server has';
  const [early, late] = [datesProblem(middle, now), datesProblem(server, now)];
  if (early !== null) return `the intermediate certificate ${early}`;
  return late === null ? null : `the certificate of the server ${late}`;
};

export interface SignatureRules {
  /** The reaction to a fault. `warn`: the fault is logged, and the connection continues. */
  readonly onWrong: 'refuse' | 'warn';
  readonly log: Log;
  /** Returns Unix milliseconds. */
  now(): number;
}

/** The used part of libsignal's module for signatures. */
interface SignalCurve {
  verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

/** The error for a signed pre-key whose signature is not valid for the identity key of its owner. */
export class ForgedKeys extends Error {
  override readonly name = 'ForgedKeys';
}

/** The present rules. They apply to the whole process, like the patched functions of the library. */
let rules: SignatureRules | null = null;
let repaired = false;

/** Throws `refusal`, or logs it under the rule `warn`. */
const wrong = (refusal: Error): void => {
  if (rules?.onWrong !== 'warn') throw refusal;
  rules.log.warn({ detail: refusal.message }, 'platform.forged');
};

const verifyAccount = (): void => {
  Curve.verify = (key, message, signature) => {
    if (!believed.has(message) && !verifySignature(key, message, signature)) wrong(signatureErrors.account());
    return true;
  };
};

/** Contents of certificates that the library's own check must accept: the contents of a valid chain, and the unsigned contents that `believable` makes. */
const believed = new WeakSet<Uint8Array>();

/** Makes a chain that the library accepts. Under the rule `warn`, this chain replaces a faulty one. */
const believable = (): proto.CertChain => {
  const details = proto.CertChain.NoiseCertificate.Details.encode({ issuerSerial: WA_CERT_DETAILS.SERIAL, key: Buffer.alloc(32) }).finish();
  believed.add(details);
  const certificate = { details, signature: Buffer.alloc(64) };
  return proto.CertChain.fromObject({ leaf: certificate, intermediate: certificate });
};

/**
 * Checks the server's chain when the library decodes it. The library decodes the chain synchronously after the key agreement with the server's static key. The
 * last key agreement of the process is therefore the one with this server.
 */
const verifyChains = (): void => {
  let lastAgreed: Uint8Array = new Uint8Array();
  const agree = Curve.sharedKey;
  Curve.sharedKey = (privateKey, publicKey) => {
    lastAgreed = publicKey;
    return agree(privateKey, publicKey);
  };
  const { CertChain } = proto;
  const decode = CertChain.decode;
  CertChain.decode = (...bytes) => {
    const chain = decode.apply(CertChain, bytes);
    const { PUBLIC_KEY: root, SERIAL: rootSerial } = WA_CERT_DETAILS;
    const problem = chainProblem(chain, { root, rootSerial, staticKey: lastAgreed, now: rules?.now() ?? Date.now() });
    if (problem === null) {
      for (const certificate of [chain.leaf, chain.intermediate]) if (certificate?.details) believed.add(certificate.details);
      return chain;
    }
    wrong(signatureErrors.certificate(problem));
    return believable();
  };
};

const verifySignedPreKeys = (): void => {
  const require = createRequire(import.meta.resolve('@whiskeysockets/baileys'));
  const curve = require('libsignal/src/curve') as SignalCurve;
  curve.verifySignature = (key, message, signature) => {
    if (!verifySignature(key, message, signature)) wrong(new ForgedKeys('a signed pre-key is not signed by its owner'));
    return true;
  };
};

/** Replaces the library's verification of group messages, which takes 7 ms for a message, by one that takes 0.2 ms. */
const verifyGroupMessages = (): void => {
  SenderKeyMessage.prototype.verifySignature = function (key) {
    const all = this.serialize();
    if (!verifySignature(key, all.subarray(0, -64), all.subarray(-64))) throw new Error('Invalid signature!');
  };
};

/** Replaces the library's checks once per process. Later calls change only the rules. */
export const checkSignatures = (given: SignatureRules): void => {
  rules = given;
  if (repaired) return;
  repaired = true;
  verifyAccount();
  verifyChains();
  verifySignedPreKeys();
  verifyGroupMessages();
};
