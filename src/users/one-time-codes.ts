/** One-time codes by RFC 6238 (TOTP) as authenticator apps make them: HMAC-SHA-1, six digits, a step of 30 s. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { OneTimeCodes } from '#actors/ports.ts';

/** The alphabet of base 32, RFC 4648. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const stepMs = 30_000;
const digits = 6;
/** 160 bits, as RFC 4226 recommends. They are 32 letters of base 32 without padding. */
const secretBytes = 20;
/** Steps before and after the present one, for clocks that differ and for slow typing (RFC 6238, section 5.2). */
const tolerance = 1;

const toBase32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};

const fromBase32 = (text: string): Buffer => {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** Returns the code of one time step (RFC 4226, section 5.3). */
export const codeOf = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
};

export const stepAt = (now: number): number => Math.floor(now / stepMs);

const isSecret = (secret: string): boolean => /^[A-Z2-7]{32}$/.test(secret);

export const createOneTimeCodes = (issuer = 'Dormouse'): OneTimeCodes => ({
  newSecret: () => toBase32(randomBytes(secretBytes)),
  uriOf: (secret, name) =>
    `otpauth://totp/${encodeURIComponent(`${issuer}:${name}`)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`,
  stepOf(secret, code, now) {
    if (!isSecret(secret) || !/^\d{6}$/.test(code)) return null;
    let found: number | null = null;
    for (let away = -tolerance; away <= tolerance; away += 1) {
      const step = stepAt(now) + away;
      if (timingSafeEqual(Buffer.from(codeOf(secret, step)), Buffer.from(code))) found = step;
    }
    return found;
  },
});
