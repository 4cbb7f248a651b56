/** Waits of commands for a session that is closing, because its chart accepts no commands then. */
import type { Unlinked } from '../views.ts';
import { refuse, unknownInstance, type InstanceId, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { Cells, WithPolicy } from './host.ts';

/** The parts of the supervisor that these commands need. */
export type SettlingHost = Cells &
  WithPolicy<'unlinkTimeout'> & {
    readonly removals: Map<InstanceId, Promise<Result<Unlinked>>>;
  };

/** The longest wait of a command for the chart, in addition to the time-out of unlinking. In milliseconds. */
export const settleMs = 10_000;

/** A login with credentials that are to be deleted would need no pairing, so the command is refused. */
export const notDiscarded = refuse('unavailable', 'the last session is not logged out completely: its credentials are still being deleted');

/** Returns true if a requested logout is still running. A logout that waits for storage or for the crash cooldown does not count. */
const isUnlinking = (cell: Cell): boolean => cell.record.wanted === 'unlinked' && !cell.undiscarded && !cell.failed;

export const isSettled = (cell: Cell): boolean => !cell.closing && !isUnlinking(cell);

export const settled = (host: SettlingHost, cell: Cell): Promise<boolean> => cell.waitFor(isSettled, settleMs + host.policy.unlinkTimeout);

/** Runs a command on an instance that is neither closing nor being removed. */
export async function onSettled<T>(host: SettlingHost, id: InstanceId, command: (cell: Cell) => Promise<Result<T>>): Promise<Result<T>> {
  await host.removals.get(id)?.catch(() => undefined); // the caller of the removal gets its failure
  const cell = host.cell(id);
  if (!cell) return unknownInstance;
  await settled(host, cell);
  return command(cell);
}
