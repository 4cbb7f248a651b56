/** The parts of the supervisor that commands need, the wait for a session that is closing, and the path of every operation. */
import { done, type InstanceId, notConnected, refuse, type Result, unknownInstance } from '../model.ts';
import type { AnswerOf, InputOf, OperationName } from '../operations.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { performIn } from '../session/perform.ts';
import type { Unlinked } from '../views.ts';

// The parts of the supervisor that commands need. Each command names the parts that it uses.

/** Finds instances in memory. */
export interface Cells {
  cell(id: InstanceId): Cell | null;
}

/** Wakes hibernated sessions. */
export interface Waker {
  /** Returns the instance. Wakes a hibernated session and waits for it. The session may still be unconnected. */
  awake(id: InstanceId): Promise<Result<Cell>>;
}

/** Gives some of the ports. */
export interface WithPorts<Name extends keyof Ports> {
  readonly ports: Pick<Ports, Name>;
}

/** Gives some rules of the policy. */
export interface WithPolicy<Name extends keyof Policy> {
  readonly policy: Pick<Policy, Name>;
}

// Waits of commands for a session that is closing, because its chart accepts no commands then.

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

// The path of every operation: wake the session, run the operation as a child of its chart, and return the outcome.

/** Runs a task on a live session, and wakes a hibernated session first. `task` starts at most once, and only while the session is connected. */
export async function whileLive<T>(
  host: Waker,
  id: InstanceId,
  task: (cell: Cell, signal: AbortSignal) => Promise<Result<T>>,
): Promise<Result<T>> {
  const awake = await host.awake(id);
  if (!awake.ok) return awake;
  const cell = awake.value;
  return (await cell.request((signal) => task(cell, signal))) ?? notConnected;
}

export const perform = <N extends OperationName>(host: Waker, id: InstanceId, name: N, input: InputOf<N>): Promise<Result<AnswerOf<N>>> =>
  whileLive(host, id, (cell, signal) => performIn(cell, signal, name, input));

// Pictures of people and groups on their way to the platform.

/** Returns the JPEG for the platform; null for '', which removes a picture. */
export const portraitOf = ({ portraits }: Pick<Ports, 'portraits'>, source: string): Promise<Result<Uint8Array | null>> =>
  source === '' ? Promise.resolve(done(null)) : portraits.take(source, 'portrait');
