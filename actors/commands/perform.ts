/** The path of every operation: wake the session, run the operation as a child of its chart, and return the outcome. */
import { done, type InstanceId, notConnected, type Result } from '../model.ts';
import type { AnswerOf, InputOf, OperationName } from '../operations.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Waker } from './host.ts';
import { performIn } from '../session/perform.ts';

/** Runs a task on a live session, and wakes a hibernated one first. `task` starts at most once, and only while the session is connected. */
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
