/** Commands wait for a session that is in the middle of closing: its chart takes none then. */
import { refuse, unknownInstance, type InstanceId, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { Supervisor } from '../supervisor.ts';

/** How long a command waits for the chart to finish what it was asked for, beside the time that unlinking may take. */
export const settleMs = 10_000;

/** A login with credentials that have to go would need no pairing. */
export const notDiscarded = refuse('unavailable', 'the last session is not logged out completely: its credentials are still being deleted');

/** Somebody asked for a logout that is not done, and that is not waiting for storage or for the end of the pause after crashes. */
const isUnlinking = (cell: Cell): boolean => cell.record.wanted === 'unlinked' && !cell.undiscarded && !cell.failed;

export const isSettled = (cell: Cell): boolean => !cell.closing && !isUnlinking(cell);

export const settled = (supervisor: Supervisor, cell: Cell): Promise<boolean> =>
  cell.waitFor(isSettled, settleMs + supervisor.policy.unlinkTimeout);

/** Runs a command on an instance that is neither closing nor being removed. */
export async function onSettled<T>(
  supervisor: Supervisor,
  id: InstanceId,
  command: (cell: Cell) => Promise<Result<T>>,
): Promise<Result<T>> {
  await supervisor.removals.get(id)?.catch(() => undefined); // the caller of the removal gets its failure
  const cell = supervisor.cell(id);
  if (!cell) return unknownInstance;
  await settled(supervisor, cell);
  return command(cell);
}
