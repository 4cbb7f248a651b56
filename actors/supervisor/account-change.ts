/**
 * Removes the traces of the former account after another account was paired with the caller's consent. Pending work of the former account ends with a
 * reason. The rows of the former account are removed before the first message is sent.
 */
import type { InstanceId, InstanceRecord } from '../model.ts';
import { type Identity, type Ports, StorageUnavailable } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Campaigns } from './campaigns.ts';

const reason = 'another account was paired';

/** The pause between two batches of removals, in which other queries use the database. In milliseconds. */
const restMs = 5;

export interface AccountChangeHost {
  readonly ports: Pick<Ports, 'chatwootRows' | 'removals' | 'journal' | 'time' | 'log'>;
  readonly campaigns: Pick<Campaigns, 'pauseAll' | 'forget'>;
  /**
   * Returns false if this process may not act for the instance any more. The removal then rejects, and the next opening of the connection repeats the removal.
   */
  mayAct(id: InstanceId): boolean;
  /** Clears the caches of the instance outside its cell. */
  forgetBeside(id: InstanceId): void;
}

/** Removes the rows of the former account. Returns the number of batches. Rejects as soon as `isCurrent` returns false. */
async function removeRows(
  { ports: { removals, time }, mayAct }: AccountChangeHost,
  { id, epoch }: InstanceRecord,
  isCurrent: () => boolean,
): Promise<number> {
  const goesOn = (): boolean => mayAct(id) && isCurrent();
  try {
    let pieces = 0;
    for (; goesOn() && (await removals.removePiece({ kind: 'account', id, epoch })); pieces += 1)
      await new Promise<void>((resolve) => void time.setTimeout(resolve, restMs));
    // Rows of the former account may be left, so the mark stays.
    if (!goesOn()) throw new StorageUnavailable('the connection was given up, or the instance is leaving this process');
    return pieces;
  } finally {
    removals.rewind(id);
  }
}

/**
 * Replaces the stored account by the paired account. The call is safe to repeat after a failure. `isCurrent`: returns false if the connection was given up. A
 * logout may follow then, after which the account must not be stored.
 */
export async function beginAnew(host: AccountChangeHost, cell: Cell, identity: Identity, isCurrent: () => boolean): Promise<void> {
  const { ports, campaigns } = host;
  const { id, epoch, owner, name } = cell.record;
  // The former account never connects again after this mark is stored. If a step below fails, the next opening finds the mark and repeats the steps.
  await cell.keeper.save({ accountLeaves: true });
  await ports.chatwootRows.failReplies({ instanceId: id, epoch }, reason);
  await cell.queue.clear('accountChanged');
  await campaigns.pauseAll(id, reason);
  campaigns.forget(id);
  await cell.recorder.recorded();
  const pieces = await removeRows(host, cell.record, isCurrent);
  // Couriers have some of the removed rows in memory, and would retry them under the new account.
  cell.root.renewCouriers();
  cell.history.clear();
  ports.journal.forget(id);
  host.forgetBeside(id);
  await cell.keeper.save({ ...identity, accountLeaves: false });
  cell.recorder.record([
    { kind: 'news', lane: '', news: { type: 'connection', name, connection: { status: 'connecting', formerOwner: owner } } },
  ]);
  ports.log.info({ instance: id, pieces }, 'account.changed');
}
