/** The platform's Noise certificates: a root key, compiled in, signs an intermediate certificate, which signs that of the server's static key. */
import { proto } from '@whiskeysockets/baileys';
import { verifySignature } from './xeddsa.ts';

type Certificate = proto.CertChain.INoiseCertificate | null | undefined;

/** The parts of a chain and of its handshake that must fit each other. */
export interface ShownChain {
  readonly leaf?: Certificate;
  readonly intermediate?: Certificate;
}

export interface ChainRules {
  readonly root: Uint8Array;
  readonly rootSerial: number;
  /** The key that the server proved to hold in the handshake. */
  readonly staticKey: Uint8Array;
  /** Unix milliseconds. */
  readonly now: number;
}

const { Details } = proto.CertChain.NoiseCertificate;

/** The contents of a certificate that `signer` signed; null when the signature is not the signer's. */
const opened = (certificate: Certificate, signer: Uint8Array): proto.CertChain.NoiseCertificate.Details | null => {
  const { details, signature } = certificate ?? {};
  return details && signature && verifySignature(signer, details, signature) ? Details.decode(details) : null;
};

/** Dates are Unix seconds. A date that is missing counts as 1970, so that such a certificate has expired. */
const datesProblem = ({ notBefore, notAfter }: proto.CertChain.NoiseCertificate.IDetails, now: number): string | null => {
  if (now < Number(notBefore ?? 0) * 1000) return 'is not valid yet';
  return now > Number(notAfter ?? 0) * 1000 ? 'has expired' : null;
};

/** Returns the first thing that is wrong with a chain, in words that hold nothing of the chain; null for a right one. */
export const chainProblem = ({ leaf, intermediate }: ShownChain, { root, rootSerial, staticKey, now }: ChainRules): string | null => {
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
