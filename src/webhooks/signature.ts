/** Signatures of the Standard Webhooks specification: HMAC-SHA256 over id, timestamp and body, under a secret that both sides know. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Signer } from '#actors/ports.ts';

const prefix = 'whsec_';
/** Bytes; the specification asks for 24 to 64. */
const [least, most, made] = [24, 64, 32];

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');

export const signer: Signer = {
  make: () => prefix + randomBytes(made).toString('base64'),
  objection(secret) {
    const text = secret.slice(prefix.length);
    const wellFormed = secret.startsWith(prefix) && /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
    const { length } = keyOf(secret);
    if (wellFormed && length >= least && length <= most) return null;
    return `secret must be true, empty, or ${prefix} with ${least} to ${most} bytes in base64`;
  },
  sign: (secret, id, timestamp, body) => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
};
