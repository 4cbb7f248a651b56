/**
 * One-time codes by which the browser of an account's owner answers the request for a passkey. A code stands for one link of one instance and for
 * nothing else. After its use a long random ticket takes its place, so that nobody who saw the code can go on with it.
 */
import type { PasskeyCode, PasskeyLink } from '../face.ts';
import type { InstanceId } from '../model.ts';
import type { Chance, Ports } from '../ports.ts';

type CodePorts = Pick<Ports, 'passkeyCodes' | 'chance' | 'digest' | 'time'>;

/** Letters and digits that nobody mistakes for each other: no 0, 1, I, L, O and U. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Eight of 30 letters are 6.6e11 codes. */
const codeLength = 8;
const ticketLength = 43;
/** Milliseconds for which a code counts, and a ticket: longer than both stages after the assertion. */
const codeMs = 600_000;
const ticketMs = 600_000;

/** Every letter is equally likely: bytes that would favour the first letters are left out. */
const codeOf = (chance: Chance): string => {
  const highest = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < codeLength) {
    const byte = Number.parseInt(chance.hex(1), 16);
    if (byte < highest) code += alphabet[byte % alphabet.length];
  }
  return code;
};

/** The stored name of a code, however it is typed, or of a ticket. */
const hashOf = (digest: Ports['digest'], given: string): string => {
  if (given.length === ticketLength) return digest(`passkey ticket ${given}`);
  return digest(`passkey code ${given.toUpperCase().replaceAll(/[\s-]/g, '')}`);
};

export const makePasskeyCode = async ({ passkeyCodes, chance, digest, time }: CodePorts, id: InstanceId): Promise<PasskeyCode> => {
  const code = codeOf(chance);
  const expiresAt = time.now() + codeMs;
  await passkeyCodes.put(id, hashOf(digest, code), codeMs);
  return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt };
};

export const findPasskeyLink = async ({ passkeyCodes, digest }: CodePorts, given: string): Promise<PasskeyLink | null> => {
  const row = await passkeyCodes.find(hashOf(digest, given));
  return row && { id: row.instanceId, used: row.used };
};

/** Returns the ticket, or null if the code does not count any more. */
export const usePasskeyCode = async ({ passkeyCodes, chance, digest }: CodePorts, code: string): Promise<string | null> => {
  const ticket = chance.token(ticketLength);
  const isUsed = await passkeyCodes.use(hashOf(digest, code), hashOf(digest, ticket), ticketMs);
  return isUsed ? ticket : null;
};
