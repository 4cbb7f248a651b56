/** Commands on entries that the database refused: list them, retry one, discard one. */
import { refusalNameOf } from '../delivery/recorder.ts';
import type { Gateway } from '../views.ts';
import { done, refuse, unknownInstance, type InstanceId, type Result } from '../model.ts';
import { EpochLost, StorageFailure } from '../ports.ts';
import type { Supervisor } from '../supervisor.ts';

export type RefusedCommands = Pick<Gateway, 'refusedEntries' | 'retryRefused' | 'discardRefused'>;

const unknownEntry = refuse('notFound', 'there is no such entry');

async function retry({ ports, registry }: Supervisor, id: InstanceId, entryId: string): Promise<Result<null>> {
  const cell = registry.cell(id);
  if (cell === null) return unknownInstance;
  const entry = await ports.refused.read(id, entryId);
  if (entry === null) return unknownEntry;
  const claim = { instanceId: id, epoch: cell.record.epoch };
  try {
    await cell.recorder.append(entry);
  } catch (error) {
    if (error instanceof StorageFailure || error instanceof EpochLost) throw error;
    const name = refusalNameOf(error);
    await ports.refused.tried(claim, entryId, name);
    return refuse('conflict', `the database refuses the entry again: ${name}`);
  }
  await ports.refused.remove(claim, entryId);
  ports.log.info({ instance: id, kind: entry.kind }, 'entry.stored');
  return done(null);
}

async function discard({ ports, registry }: Supervisor, id: InstanceId, entryId: string): Promise<Result<null>> {
  const record = registry.record(id);
  if (record === undefined) return unknownInstance;
  if (!(await ports.refused.remove({ instanceId: id, epoch: record.epoch }, entryId))) return unknownEntry;
  ports.log.warn({ instance: id }, 'entry.discarded');
  return done(null);
}

export const refusedCommands = (supervisor: Supervisor): RefusedCommands => ({
  refusedEntries: (query) => supervisor.ports.refused.list(query),
  retryRefused: (id, entry) => retry(supervisor, id, entry),
  discardRefused: (id, entry) => discard(supervisor, id, entry),
});
