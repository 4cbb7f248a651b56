/** Chats and messages of an archive, which are stored behind their session in pieces. A kill leaves the pieces before; the same import adds the rest. */
import { EpochLost, SourceProblem, type ArchivedTable, type ArrivingSession } from '../ports.ts';
import type { InstanceId } from '../model.ts';
import type { WithPorts } from './host.ts';
import type { Registry } from '../supervisor/registry.ts';
import { ownershipObjection, type OwningHost } from './owning.ts';

/** The parts of the supervisor that these commands need. */
export type RowsHost = OwningHost &
  WithPorts<'journal' | 'log'> & {
    during<T>(id: InstanceId, work: () => Promise<T>): Promise<T>;
    readonly registry: Registry;
  };

export interface AddedRows {
  readonly chats: number;
  readonly messages: number;
  /** The reason why rows are missing; null if all of them are stored. */
  readonly problem: string | null;
}

export const noRows: AddedRows = { chats: 0, messages: 0, problem: null };

const callerGone = 'the caller is gone';
const sessionEnded = 'the instance does not have the session any more';

/** Returns the reason to end the import of the rows, or null for an error that the caller has to see. */
const problemOf = (error: unknown): string | null => {
  if (error instanceof SourceProblem) return error.message;
  return error instanceof EpochLost ? 'another node took the instance meanwhile, or it was removed' : null;
};

/** Stores the rows of a session that the instance has. No events are made of them. */
export async function addRows(host: RowsHost, id: InstanceId, session: ArrivingSession, signal: AbortSignal): Promise<AddedRows> {
  const { rows, identity } = session;
  if (rows === undefined) return noRows;
  const objection = await ownershipObjection(host, id, 'import');
  if (objection !== null) return { ...noRows, problem: objection };
  const added: Record<ArchivedTable, number> = { contacts: 0, chats: 0, messages: 0 };
  const addAll = async (): Promise<string | null> => {
    for await (const piece of rows()) {
      if (signal.aborted) return callerGone;
      // The epoch may change between two pieces, and the session may end.
      const record = host.registry.cell(id)?.record;
      if (record?.jid !== identity.jid) return sessionEnded;
      added[piece.of] += await host.ports.journal.addArchived({ instanceId: id, epoch: record.epoch }, piece);
    }
    return null;
  };
  let problem: string | null = null;
  try {
    problem = await host.during(id, addAll);
  } catch (error) {
    // The upload is not read further after its caller has gone.
    problem = signal.aborted ? callerGone : problemOf(error);
    if (problem === null) throw error;
  }
  const { chats, messages } = added;
  host.ports.log.info({ instance: id, chats, messages, problem }, 'session.rowsImported');
  return { chats, messages, problem };
}
