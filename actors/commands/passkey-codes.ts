/**
 * One-time codes with which the browser of an account's owner answers the passkey request. A code is valid for one linking of one instance. The first
 * use of a code replaces the code with a long random ticket, so that a person who saw the code cannot continue.
 */
import type { PasskeyCode, PasskeyLink } from '../views.ts';
import type { InstanceId } from '../model.ts';
import type { Chance, Ports } from '../ports.ts';

type CodePorts = Pick<Ports, 'passkeyCodes' | 'chance' | 'digest' | 'time'>;

/** Letters and digits without look-alikes: no 0, 1, I, L, O and U. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The length of a code. Eight of 30 characters give 6.6e11 codes. */
const codeLength = 8;
const ticketLength = 43;
/** The lifetimes of a code and of a ticket. In milliseconds. A ticket outlives both stages after the assertion. */
const codeMs = 600_000;
const ticketMs = 600_000;

/** Generates a code of equally likely letters. Bytes that would favour the first letters are skipped. */
const codeOf = (chance: Chance): string => {
  const highest = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < codeLength) {
    const byte = Number.parseInt(chance.hex(1), 16);
    if (byte < highest) code += alphabet[byte % alphabet.length];
  }
  return code;
};

/** Returns the stored hash of a ticket, or of a code in any spelling. */
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

/** Returns the ticket; null if the code is no longer valid. */
export const usePasskeyCode = async ({ passkeyCodes, chance, digest }: CodePorts, code: string): Promise<string | null> => {
  const ticket = chance.token(ticketLength);
  const isUsed = await passkeyCodes.use(hashOf(digest, code), hashOf(digest, ticket), ticketMs);
  return isUsed ? ticket : null;
};
