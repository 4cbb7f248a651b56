/** Commands on linking an account that has a passkey. */
import { done, type InstanceId, refuse, type Result } from '../model.ts';
import type { Chance, Ports } from '../ports.ts';
import type { PasskeyStage } from '../session/passkey.ts';
import type { LifecycleSnapshot } from '../session/status.ts';
import type { PasskeyCode, PasskeyLink, PasskeyMethods, PasskeyView } from '../views.ts';
import type { WithCells } from './host.ts';

// One-time codes with which the browser of an account's owner answers the passkey request. A code is valid for one linking of one instance.
// The first use of a code replaces the code with a long random ticket, so that a person who saw the code cannot continue.

type CodePorts = Pick<Ports, 'passkeyCodes' | 'chance' | 'digest' | 'time'>;

/** Letters and digits without look-alikes: no 0, 1, I, L, O and U. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The length of a code. Eight of 30 characters give 6.6e11 codes. */
const codeLength = 8;
/** The length of a ticket, in characters. 43 of 62 letters and digits give 256 bits. */
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

/** Returns the hash under which a ticket or a code is stored. A code may be written in lower case, with spaces or with hyphens. */
const hashOf = (digest: Ports['digest'], given: string): string => {
  if (given.length === ticketLength) return digest(`passkey ticket ${given}`);
  return digest(`passkey code ${given.toUpperCase().replaceAll(/[\s-]/g, '')}`);
};

const makePasskeyCode = async ({ passkeyCodes, chance, digest, time }: CodePorts, id: InstanceId): Promise<PasskeyCode> => {
  const code = codeOf(chance);
  const expiresAt = time.now() + codeMs;
  await passkeyCodes.put(id, hashOf(digest, code), codeMs);
  return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt };
};

const findPasskeyLink = async ({ passkeyCodes, digest }: CodePorts, given: string): Promise<PasskeyLink | null> => {
  const row = await passkeyCodes.find(hashOf(digest, given));
  return row && { id: row.instanceId, used: row.used };
};

/** Returns the ticket; null if the code is no longer valid. */
const usePasskeyCode = async ({ passkeyCodes, chance, digest }: CodePorts, code: string): Promise<string | null> => {
  const ticket = chance.token(ticketLength);
  const isUsed = await passkeyCodes.use(hashOf(digest, code), hashOf(digest, ticket), ticketMs);
  return isUsed ? ticket : null;
};

/** A session that may be pairing. */
interface Pairing {
  readonly lifecycle: LifecycleSnapshot | null;
}

const viewOf = (cell: Pairing): PasskeyView | null => cell.lifecycle?.context.passkey ?? null;

/** Returns the passkey view if the pairing is at this stage, else a refusal. */
const at = (cell: Pairing, stage: PasskeyStage): Result<PasskeyView> => {
  const view = viewOf(cell);
  if (view === null) return refuse('conflict', 'the platform does not ask for a passkey: connect the instance and scan the QR code first');
  if (view.stage === stage) return done(view);
  return refuse('conflict', `the passkey is at the stage "${view.stage}", and not at "${stage}"`);
};

/** The parts of the supervisor that these commands need. */
type Host = WithCells & { readonly ports: CodePorts };

export const passkeyCommands = ({ cells, ports }: Host): PasskeyMethods => ({
  passkey: (id) => cells.settled(id, async (cell) => done(viewOf(cell))),

  answerPasskey: (id, assertion) =>
    cells.settled(id, async (cell) => {
      const found = at(cell, 'assertion');
      if (!found.ok) return found;
      const problem = found.value.options && cell.link.passkeyProblem(assertion, found.value.options);
      if (problem !== null) return refuse('invalid', problem);
      cell.send({ type: 'passkey.assert', assertion, by: 'api' });
      return done(viewOf(cell));
    }),

  confirmPasskey: (id) =>
    cells.settled(id, async (cell) => {
      const found = at(cell, 'code');
      if (!found.ok) return found;
      cell.send({ type: 'passkey.confirm', by: 'api' });
      return done(viewOf(cell));
    }),

  cancelPasskey: (id) =>
    cells.settled(id, async (cell) => {
      if (viewOf(cell) === null) return refuse('conflict', 'the platform does not ask for a passkey');
      await ports.passkeyCodes.end(id);
      cell.send({ type: 'passkey.cancel', by: 'api' });
      await cells.settle(cell);
      return done(null);
    }),

  linkPasskey: (id) =>
    cells.settled(id, async (cell) => {
      const found = at(cell, 'assertion');
      return found.ok ? done(await makePasskeyCode(ports, id)) : found;
    }),

  passkeyLink: (code) => findPasskeyLink(ports, code),

  async usePasskeyLink(code) {
    const ticket = await usePasskeyCode(ports, code);
    return ticket === null ? refuse('conflict', 'the code was used meanwhile') : done(ticket);
  },
});
