/** Commands on people and groups: who exists. */
import type { Gateway } from '../face.ts';
import { checkNumbers } from '../session/number-check.ts';
import type { Supervisor } from '../supervisor.ts';
import { whileLive } from './perform.ts';

type PeopleCommands = Pick<Gateway, 'checkNumbers'>;

export const peopleCommands = (supervisor: Supervisor): PeopleCommands => ({
  checkNumbers: (id, numbers) => whileLive(supervisor, id, (cell, signal) => checkNumbers(cell, signal, numbers)),
});
