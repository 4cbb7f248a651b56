/** Exports sessions as an archive. Stores the contacts, chats and messages of an imported archive. These commands run on the node that owns the instance. */
import type { Cluster } from '../cluster/cluster.ts';
import { done, type InstanceId, type InstancePatch, type InstanceRecord, refuse, type Result } from '../model.ts';
import { type ArchivedTable, type ArrivingSession, EpochLost, type LeavingSession, SourceProblem, StorageFailure } from '../ports.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { ExportRequest, MovingMethods } from '../views.ts';
import { notDiscarded, type WithCells, type WithPorts } from './host.ts';
import { leavingSettings, type SettingsHost } from './leaving-settings.ts';

// The ownership check of import and export. The gateway cannot send these commands to the owner of an instance, because their bodies are too large for the bus.

/** The cluster of a node, or null for a single gateway. */
interface OwningHost {
  readonly cluster: Pick<Cluster, 'take' | 'ownerOf'> | null;
}

/**
 * Takes the instance if no live node owns it. Returns null if this node then owns the instance, and otherwise the reason why the command cannot run on this
 * node.
 */
export const ownershipObjection = async ({ cluster }: OwningHost, id: InstanceId, command: 'import' | 'export'): Promise<string | null> => {
  if (cluster === null || (await cluster.take(id))) return null;
  const owner = await cluster.ownerOf(id);
  return owner === null
    ? `no node owns the instance ${id}, and this node can take none: ${command} through another node`
    : `the node ${owner} owns the instance ${id}: ${command} through that node`;
};

// Stores the contacts, chats and messages of an archive in batches, after their session is stored. After a kill, the stored batches remain. A repeated import
// adds the rest.

/** The parts of the supervisor that these commands need. */
export type RowsHost = OwningHost &
  WithPorts<'journal' | 'log'> & {
    during<T>(id: InstanceId, work: () => Promise<T>): Promise<T>;
    readonly registry: Registry;
  };

interface AddedRows {
  readonly chats: number;
  readonly messages: number;
  /** The reason why rows are missing; null if all of them are stored. */
  readonly problem: string | null;
}

export const noRows: AddedRows = { chats: 0, messages: 0, problem: null };

const callerGone = 'the caller is gone';
const sessionEnded = 'the instance does not have the session any more';

/** Returns the reason to end the import of the rows, or null if the error must be thrown. */
const problemOf = (error: unknown): string | null => {
  if (error instanceof SourceProblem) return error.message;
  return error instanceof EpochLost ? 'another node took the instance meanwhile, or it was removed' : null;
};

/** Stores the archived rows of a session. The instance must already have this session. Makes no events. */
export async function addRows(host: RowsHost, id: InstanceId, session: ArrivingSession, signal: AbortSignal): Promise<AddedRows> {
  const { rows, identity } = session;
  if (rows === undefined) return noRows;
  const objection = await ownershipObjection(host, id, 'import');
  if (objection !== null) return { ...noRows, problem: objection };
  const added: Record<ArchivedTable, number> = { contacts: 0, chats: 0, messages: 0 };
  const addAll = async (): Promise<string | null> => {
    for await (const piece of rows()) {
      if (signal.aborted) return callerGone;
      // Between two batches, the epoch may change and the session may end.
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
    // If the caller has gone, its upload is broken off, so the error says nothing new.
    problem = signal.aborted ? callerGone : problemOf(error);
    if (problem === null) throw error;
  }
  const { chats, messages } = added;
  host.ports.log.info({ instance: id, chats, messages, problem }, 'session.rowsImported');
  return { chats, messages, problem };
}

// Exports sessions as an archive. A running session is stopped first, or refused, because its keys would change during the read.

/** The parts of the supervisor that these commands need. */
export type LeavingHost = OwningHost &
  WithCells &
  SettingsHost &
  WithPorts<'log' | 'sessions' | 'sources' | 'time'> & {
    during<T>(id: InstanceId, work: () => Promise<T>): Promise<T>;
    readonly registry: Registry;
  };

export const records = ({ registry }: LeavingHost): readonly InstanceRecord[] =>
  [...registry.ids].map((id) => registry.record(id)).filter((record) => record !== undefined);

/** Returns the instance of this id, or all instances of this name. */
export const named = (host: LeavingHost, wanted: string): readonly InstanceRecord[] => {
  const byId = host.registry.record(wanted);
  return byId ? [byId] : records(host).filter(({ name }) => name === wanted);
};

/** Returns the disconnect reason of an exported instance. Nobody knows if the archive is imported elsewhere, so a connect stays possible. */
const exportedText = (now: number): string =>
  `exported on ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC: connect it here only if it runs nowhere else`;

/** The fields of an instance that show that its session was exported. */
type ExportNote = Pick<InstancePatch, 'lastDisconnect' | 'lastDisconnectReason' | 'lastDisconnectCause'>;

/** Returns a refusal if a logout is not complete, so that credentials still have to be removed; else null. */
const discardObjection = (host: LeavingHost, { id, wanted }: InstanceRecord) =>
  wanted === 'unlinked' || host.registry.cells.get(id)?.undiscarded === true
    ? refuse('unavailable', `the instance ${id} cannot be exported: ${notDiscarded.refusal.message}`)
    : null;

/** Closes the session without a logout. The instance stays disconnected until a caller connects it. */
const stop = (host: LeavingHost, id: InstanceId, reason: string, note: ExportNote): Promise<Result<null>> =>
  host.cells.settled(id, async (cell) => {
    const objection = discardObjection(host, cell.record);
    if (objection !== null) return objection;
    await cell.keeper.save({ wanted: 'offline', ...note });
    cell.send({ type: 'instance.rest', reason, by: 'api' });
    await host.cells.settle(cell);
    await cell.stored();
    return done(null);
  });

/** Returns true if the session is disconnected and stays so. It does not connect by itself, not even after a restart. */
export const isResting = (host: Pick<LeavingHost, 'registry'>, { id, wanted }: InstanceRecord): boolean =>
  wanted === 'offline' && host.registry.status(id) === 'disconnected' && host.registry.cells.get(id)?.closing !== true;

/** Returns true if the instance has credentials that can be decrypted. */
const hasCredentials = async ({ ports: { sessions, log } }: LeavingHost, id: InstanceId): Promise<boolean> => {
  try {
    return (await sessions.credentials(id)) !== null;
  } catch (error) {
    if (error instanceof StorageFailure) throw error;
    log.error({ instance: id, error }, 'session.notExported');
    return false;
  }
};

const runs = (id: InstanceId) => refuse('conflict', `the session of the instance ${id} runs: \`stop\` closes it first`);

/** Returns the instance of an id or a name, if this node can export its session. */
const leaving = async (host: LeavingHost, wanted: string, isToStop: boolean): Promise<Result<InstanceRecord>> => {
  const [known, another] = named(host, wanted);
  if (known === undefined) return refuse('notFound', `there is no instance ${wanted}`);
  if (another !== undefined) return refuse('conflict', `several instances are named ${wanted}: say which one by its id`);
  const { id } = known;
  if (known.jid === '') return refuse('conflict', `the instance ${id} has no session`);
  const objection = await ownershipObjection(host, id, 'export');
  if (objection !== null) return refuse('conflict', objection);
  const record = host.registry.record(id) ?? known;
  const left = discardObjection(host, record);
  if (left !== null) return left;
  if (!(await hasCredentials(host, id)))
    return refuse('conflict', `the credentials of the instance ${id} are missing or damaged: export the other instances by their names`);
  return isToStop || isResting(host, record) ? done(record) : runs(id);
};

/** Stops the session if the caller asks for it, and records the export. */
async function prepare(host: LeavingHost, known: InstanceRecord, isToStop: boolean): Promise<Result<InstanceRecord>> {
  const { id } = known;
  const now = host.ports.time.now();
  const reason = exportedText(now);
  // The node may have released the idle instance while it stopped other sessions.
  const objection = await ownershipObjection(host, id, 'export');
  if (objection !== null) return refuse('conflict', objection);
  const before = host.registry.record(id) ?? known;
  // An import compares the ends of the last connections to find the newer copy. A session that already rests therefore keeps its stored time.
  const ended = isResting(host, before) ? (before.lastDisconnect ?? now) : now;
  const note: ExportNote = { lastDisconnect: ended, lastDisconnectReason: reason, lastDisconnectCause: 'exported' };
  if (isToStop) {
    const stopped = await stop(host, id, reason, note);
    if (!stopped.ok) return stopped;
  }
  const record = host.registry.record(id);
  if (record === undefined) return refuse('notFound', `there is no instance ${id}`);
  if (record.jid === '') return refuse('conflict', `the instance ${id} has no session`);
  if (!isResting(host, record))
    return isToStop ? refuse('conflict', `the session of the instance ${id} is still closing: export it again in a moment`) : runs(id);
  await host.cells.get(id)?.keeper.save(note);
  return done(host.registry.record(id) ?? record);
}

/** The largest number of instances that a refusal names. */
const mostNamed = 10;

const namesOf = (ids: readonly InstanceId[]): string => {
  const others = ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : '';
  return `${ids.slice(0, mostNamed).join(', ')}${others}`;
};

/** Prepares all sessions. A refusal or an error after the first stop names the stopped sessions, because they stay stopped. */
const prepareAll = async (
  host: LeavingHost,
  wanted: readonly InstanceRecord[],
  isToStop: boolean,
): Promise<Result<readonly InstanceRecord[]>> => {
  const ready: InstanceRecord[] = [];
  const stoppedIds = (): readonly InstanceId[] =>
    wanted.filter((before) => before.wanted !== 'offline' && host.registry.record(before.id)?.wanted === 'offline').map(({ id }) => id);
  for (const record of wanted) {
    try {
      const prepared = await prepare(host, record, isToStop);
      if (!prepared.ok) {
        const { reason, message } = prepared.refusal;
        const stopped = stoppedIds();
        return stopped.length === 0 ? prepared : refuse(reason, `${message}. These instances are stopped: ${namesOf(stopped)}`);
      }
      ready.push(prepared.value);
    } catch (error) {
      host.ports.log.error({ instance: record.id, stopped: stoppedIds(), error }, 'session.notExported');
      throw error;
    }
  }
  return done(ready);
};

/** Yields the items of a session. Calls `check` after the last item. */
async function* checked<T>(items: AsyncIterable<T>, check: () => void): AsyncIterable<T> {
  yield* items;
  check();
}

/** Reads a session that was prepared. Throws if the session runs before its last row is read, because its keys then change during the read. */
async function* sessionOf(host: LeavingHost, record: InstanceRecord, hasRows: boolean): AsyncIterable<LeavingSession> {
  const { id, name, jid } = record;
  // The node may have released the idle instance since it was prepared.
  const objection = await ownershipObjection(host, id, 'export');
  if (objection !== null) throw new Error(objection);
  const epoch = host.registry.record(id)?.epoch;
  const check = (): void => {
    const now = host.registry.record(id);
    const isSame = now?.jid === jid && now.epoch === epoch && now.lastDisconnectCause === 'exported' && host.registry.owns(id);
    if (!isSame || !isResting(host, now)) throw new Error(`the session of the instance ${id} was connected or removed during the export`);
  };
  check();
  const credentials = await host.ports.sessions.credentials(id);
  if (credentials === null) throw new Error(`the instance ${id} has no credentials any more`);
  yield {
    name,
    ...(await leavingSettings(host, record)),
    credentials,
    endedAt: record.lastDisconnect,
    keys: () => checked(host.ports.sessions.keys(id), check),
    ...(hasRows && { rows: () => checked(host.ports.sessions.rows(id), check) }),
  };
}

/**
 * Yields the sessions. `note` is called with each record before its session is read. During the read the instance counts as used, so that this node does not
 * release it. If the instance moves to another node nevertheless, `sessionOf` throws.
 */
async function* sessionsOf(
  host: LeavingHost,
  all: readonly InstanceRecord[],
  hasRows: boolean,
  note: (record: InstanceRecord) => void,
): AsyncIterable<LeavingSession> {
  for (const record of all) {
    note(record);
    const { promise, resolve } = Promise.withResolvers<null>();
    void host.during(record.id, () => promise);
    try {
      yield* sessionOf(host, record, hasRows);
    } finally {
      resolve(null);
    }
  }
}

/** Yields the bytes of the archive. Logs the instance at which an unfinished archive ended, because its session stays stopped. */
async function* archiveOf(
  host: LeavingHost,
  all: readonly InstanceRecord[],
  { passphrase, with: parts }: ExportRequest,
): AsyncIterable<Uint8Array> {
  const hasRows = parts.includes('messages');
  let instance: InstanceId = '';
  const sessions = sessionsOf(host, all, hasRows, ({ id }) => (instance = id));
  let error: unknown = 'the caller did not read the archive to its end';
  try {
    yield* host.ports.sources.archive(sessions, passphrase, hasRows);
    error = null;
  } catch (caught) {
    error = caught;
    throw caught;
  } finally {
    if (error !== null) host.ports.log.error({ instance, error }, 'session.notExported');
  }
}

/**
 * Exports sessions as an archive. Checks every instance before the first session is stopped. Without `stop`, a running session is refused before the archive
 * begins.
 */
export const leave = async (host: LeavingHost, request: ExportRequest): ReturnType<MovingMethods['exportSessions']> => {
  const { instances, stop: isToStop } = request;
  const paired = [...host.registry.ids].filter((id) => host.registry.record(id)?.jid !== '');
  const wanted: InstanceRecord[] = [];
  for (const name of new Set(instances.length === 0 ? paired : instances)) {
    const found = await leaving(host, name, isToStop);
    if (!found.ok) return found;
    if (!wanted.some(({ id }) => id === found.value.id)) wanted.push(found.value);
  }
  if (wanted.length === 0) return refuse('notFound', 'no instance has a session');
  const ready = await prepareAll(host, wanted, isToStop);
  if (!ready.ok) return ready;
  host.ports.log.info({ instances: ready.value.map(({ id }) => id), with: request.with }, 'session.exported');
  return done(archiveOf(host, ready.value, request));
};
