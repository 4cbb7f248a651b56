/** Commands on linking an account that has a passkey. */
import type { Gateway, PasskeyView } from '../views.ts';
import { done, refuse, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { PasskeyStage } from '../session/passkey.ts';
import type { Supervisor } from '../supervisor.ts';
import { findPasskeyLink, makePasskeyCode, usePasskeyCode } from './passkey-codes.ts';
import { onSettled, settled } from './settling.ts';

export type PasskeyCommands = Pick<
  Gateway,
  'passkey' | 'answerPasskey' | 'confirmPasskey' | 'cancelPasskey' | 'linkPasskey' | 'passkeyLink' | 'usePasskeyLink'
>;

const viewOf = (cell: Cell): PasskeyView | null => cell.lifecycle?.context.passkey ?? null;

/** Returns the passkey view at this stage, or a refusal. */
const at = (cell: Cell, stage: PasskeyStage): Result<PasskeyView> => {
  const view = viewOf(cell);
  if (view === null) return refuse('conflict', 'the platform does not ask for a passkey: connect the instance and scan the QR code first');
  if (view.stage === stage) return done(view);
  return refuse('conflict', `the passkey is at the stage "${view.stage}", and not at "${stage}"`);
};

export const passkeyCommands = (supervisor: Supervisor): PasskeyCommands => ({
  passkey: (id) => onSettled(supervisor, id, async (cell) => done(viewOf(cell))),

  answerPasskey: (id, assertion) =>
    onSettled(supervisor, id, async (cell) => {
      const found = at(cell, 'assertion');
      if (!found.ok) return found;
      const problem = found.value.options && cell.link.passkeyProblem(assertion, found.value.options);
      if (problem !== null) return refuse('invalid', problem);
      cell.send({ type: 'passkey.assert', assertion, by: 'api' });
      return done(viewOf(cell));
    }),

  confirmPasskey: (id) =>
    onSettled(supervisor, id, async (cell) => {
      const found = at(cell, 'code');
      if (!found.ok) return found;
      cell.send({ type: 'passkey.confirm', by: 'api' });
      return done(viewOf(cell));
    }),

  cancelPasskey: (id) =>
    onSettled(supervisor, id, async (cell) => {
      if (viewOf(cell) === null) return refuse('conflict', 'the platform does not ask for a passkey');
      await supervisor.ports.passkeyCodes.end(id);
      cell.send({ type: 'passkey.cancel', by: 'api' });
      await settled(supervisor, cell);
      return done(null);
    }),

  linkPasskey: (id) =>
    onSettled(supervisor, id, async (cell) => {
      const found = at(cell, 'assertion');
      return found.ok ? done(await makePasskeyCode(supervisor.ports, id)) : found;
    }),

  passkeyLink: (code) => findPasskeyLink(supervisor.ports, code),

  async usePasskeyLink(code) {
    const ticket = await usePasskeyCode(supervisor.ports, code);
    return ticket === null ? refuse('conflict', 'the code was used meanwhile') : done(ticket);
  },
});
