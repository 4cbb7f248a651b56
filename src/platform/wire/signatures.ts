/**
 * Checks the signatures that the library computes and then drops. Its `Curve.verify` waits for an exception of libsignal, which returns false instead. It
 * compares neither the dates of the server's certificates nor their key. libsignal ignores the signature of a signed pre-key. Without these checks, an
 * attacker in between could pose as the platform, as the account's phone or as a contact.
 */
import { createRequire } from 'node:module';
import { Curve, proto, WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { SenderKeyMessage } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-message.js';
import type { Log } from '#actors/ports.ts';
import { chainProblem } from './certificate-chain.ts';
import { forgeries } from './close-cause.ts';
import { verifySignature } from './xeddsa.ts';

export interface SignatureRules {
  /** `warn`: what is wrong is logged and believed. */
  readonly onWrong: 'refuse' | 'warn';
  readonly log: Log;
  /** Unix milliseconds. */
  now(): number;
}

/** The part of libsignal's module for signatures that its sessions use. */
interface SignalCurve {
  verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

/** A signed pre-key that its owner did not sign. */
export class ForgedKeys extends Error {
  override readonly name = 'ForgedKeys';
}

/** The rules of the platform that was made last: the library's functions are the process's. */
let rules: SignatureRules | null = null;
let repaired = false;

/** Throws `refusal`, or logs it. */
const wrong = (refusal: Error): void => {
  if (rules?.onWrong !== 'warn') throw refusal;
  rules.log.warn({ detail: refusal.message }, 'platform.forged');
};

const verifyAccount = (): void => {
  Curve.verify = (key, message, signature) => {
    if (!believed.has(message) && !verifySignature(key, message, signature)) wrong(forgeries.account());
    return true;
  };
};

/** Certificates that were checked: the library's own check passes them by. */
const believed = new WeakSet<Uint8Array>();

/** A chain in place of a wrong one that is believed nevertheless. */
const believable = (): proto.CertChain => {
  const details = proto.CertChain.NoiseCertificate.Details.encode({ issuerSerial: WA_CERT_DETAILS.SERIAL, key: Buffer.alloc(32) }).finish();
  believed.add(details);
  const certificate = { details, signature: Buffer.alloc(64) };
  return proto.CertChain.fromObject({ leaf: certificate, intermediate: certificate });
};

/**
 * Checks the server's chain when the library reads it. The library reads the chain right after the agreement with the server's static key, without waiting
 * in between. So the last agreement of the process was the one with that key.
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
    if (problem === null) return chain;
    wrong(forgeries.certificate(problem));
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

/** The library checks the signatures of group messages itself, in plain JavaScript: 7 ms a message, instead of 0.2 ms. */
const verifyGroupMessages = (): void => {
  SenderKeyMessage.prototype.verifySignature = function (key) {
    const all = this.serialize();
    if (!verifySignature(key, all.subarray(0, -64), all.subarray(-64))) throw new Error('Invalid signature!');
  };
};

/** The checks are put in place once per process; later calls change the rules. */
export const checkSignatures = (given: SignatureRules): void => {
  rules = given;
  if (repaired) return;
  repaired = true;
  verifyAccount();
  verifyChains();
  verifySignedPreKeys();
  verifyGroupMessages();
};
