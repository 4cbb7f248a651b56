/** Another account was paired, as its caller allowed: what waits for the account before ends with a reason, and its rows go before anything is sent. */
import type { InstanceId } from '../model.ts';
import type { Identity, Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Campaigns } from './campaigns.ts';

const reason = 'another account was paired';

/** Milliseconds between two pieces, which leave the database to the others. */
const restMs = 5;

export interface AccountChangeHost {
  readonly ports: Pick<Ports, 'chatwootRows' | 'removals' | 'journal' | 'time' | 'log'>;
  readonly campaigns: Pick<Campaigns, 'pauseAll' | 'forget'>;
  /** False when another process owns the instance by now: nothing more is removed. */
  mayAct(id: InstanceId): boolean;
  /** Forgets what is remembered of the instance beside its cell. */
  forgetBeside(id: InstanceId): void;
}

/** Safe to repeat after a failure. */
export async function beginAnew(host: AccountChangeHost, cell: Cell, identity: Identity): Promise<void> {
  const { ports, campaigns } = host;
  const { id, epoch, owner, name } = cell.record;
  // From here on the account before never connects again, whatever stops the rest: the next opening finds the mark and goes on.
  await cell.keeper.save({ accountLeaves: true });
  await ports.chatwootRows.failReplies({ instanceId: id, epoch }, reason);
  await cell.queue.clear('accountChanged');
  await campaigns.pauseAll(id, reason);
  campaigns.forget(id);
  await cell.recorder.recorded();
  let pieces = 0;
  const removePiece = async (): Promise<boolean> => host.mayAct(id) && ports.removals.removePiece({ kind: 'account', id });
  while (await removePiece()) {
    pieces += 1;
    await new Promise<void>((resolve) => void ports.time.setTimeout(resolve, restMs));
  }
  // Couriers hold some of the rows that are gone, and would try them again under the new account.
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
