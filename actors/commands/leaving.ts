/** Sessions leave as an archive. A session that runs is stopped first, or refused: its keys change while they are read. */
import type { ExportRequest, MovingFace } from '../views.ts';
import { done, refuse, type InstanceId, type InstanceRecord, type Result } from '../model.ts';
import type { LeavingSession } from '../ports.ts';
import type { WithPorts } from './host.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import { ownershipObjection, type OwningHost } from './owning.ts';
import { notDiscarded, onSettled, settled, type SettlingHost } from './settling.ts';

/** The parts of the supervisor that these commands need. */
export type LeavingHost = OwningHost &
  SettlingHost &
  WithPorts<'log' | 'sessions' | 'sources' | 'time'> & {
    readonly dispatcher: Dispatcher;
    readonly registry: Registry;
  };

export const records = ({ registry }: LeavingHost): readonly InstanceRecord[] =>
  [...registry.ids].map((id) => registry.record(id)).filter((record) => record !== undefined);

/** Returns the instance of this id, or all instances of this name. */
export const named = (host: LeavingHost, wanted: string): readonly InstanceRecord[] => {
  const byId = host.registry.record(wanted);
  return byId ? [byId] : records(host).filter(({ name }) => name === wanted);
};

/** Returns the reason that an exported instance shows. An export does not prove a move, so a connect stays possible. */
const exportedText = (now: number): string =>
  `exported on ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC: connect it here only if it runs nowhere else`;

/** Closes the session without a logout. The instance stays disconnected until a caller connects it. */
const stop = (host: LeavingHost, id: InstanceId, reason: string): Promise<Result<null>> =>
  onSettled(host, id, async (cell) => {
    if (cell.record.wanted === 'unlinked' || cell.undiscarded) return notDiscarded;
    await cell.keeper.save({ wanted: 'offline' });
    cell.send({ type: 'instance.rest', reason, by: 'api' });
    await settled(host, cell);
    await cell.stored();
    return done(null);
  });

/** Neither connected nor about to be, after a restart or by itself. */
const isResting = (host: LeavingHost, { id, wanted }: InstanceRecord): boolean =>
  wanted === 'offline' && host.registry.status(id) === 'disconnected' && host.registry.cells.get(id)?.closing !== true;

/** Returns the instance of an id or a name, if this node can export its session. */
const leaving = async (host: LeavingHost, wanted: string): Promise<Result<InstanceRecord>> => {
  const [record, another] = named(host, wanted);
  if (record === undefined) return refuse('notFound', `there is no instance ${wanted}`);
  if (another !== undefined) return refuse('conflict', `several instances are named ${wanted}: say which one by its id`);
  if (record.jid === '') return refuse('conflict', `the instance ${record.id} has no session`);
  const objection = await ownershipObjection(host, record.id, 'export');
  return objection === null ? done(host.registry.record(record.id) ?? record) : refuse('conflict', objection);
};

/** Stops the session if the caller asks for it, and notes the export. */
async function prepare(host: LeavingHost, before: InstanceRecord, isToStop: boolean): Promise<Result<InstanceRecord>> {
  const { id } = before;
  const now = host.ports.time.now();
  const reason = exportedText(now);
  if (isToStop) {
    const stopped = await stop(host, id, reason);
    if (!stopped.ok) return stopped;
  }
  const record = host.registry.record(id);
  if (record === undefined) return refuse('notFound', `there is no instance ${id}`);
  if (!isResting(host, record)) return refuse('conflict', `the session of the instance ${id} runs: \`stop\` closes it first`);
  if (record.jid === '') return refuse('conflict', `the instance ${id} has no session`);
  const noted = { lastDisconnect: now, lastDisconnectReason: reason, lastDisconnectCause: 'exported' } as const;
  await host.cell(id)?.keeper.save(noted);
  return done(host.registry.record(id) ?? record);
}

/** Settings that another gateway of this kind takes over. */
const settingsOf = (record: InstanceRecord): LeavingSession['settings'] => {
  const { systemName, browser, system, adminField01, adminField02, fieldsMap, msgDelayMin, msgDelayMax } = record;
  return { systemName, browser, system, adminField01, adminField02, fieldsMap, msgDelayMin, msgDelayMax };
};

async function* sessionsOf(host: LeavingHost, all: readonly InstanceRecord[], hasRows: boolean): AsyncIterable<LeavingSession> {
  for (const record of all) {
    const { id, name, token, proxy } = record;
    const credentials = await host.ports.sessions.credentials(id);
    if (credentials === null) continue;
    const webhooks = host.dispatcher.webhooks
      .receivers(id)
      .map(({ id: _id, instanceId: _instance, managed: _managed, created: _created, chatwoot: _chatwoot, ...webhook }) => webhook);
    yield {
      name,
      token,
      proxy: proxy?.mode === 'custom' ? proxy.url : '',
      webhooks,
      settings: settingsOf(record),
      credentials,
      keys: () => host.ports.sessions.keys(id),
      ...(hasRows && { rows: () => host.ports.sessions.rows(id) }),
    };
  }
}

/** Checks every instance before it stops the first session. A running session is refused before the first byte of the archive leaves. */
export const leave = async (host: LeavingHost, request: ExportRequest): ReturnType<MovingFace['exportSessions']> => {
  const { instances, passphrase, stop: isToStop } = request;
  const paired = [...host.registry.ids].filter((id) => host.registry.record(id)?.jid !== '');
  const wanted: InstanceRecord[] = [];
  for (const name of new Set(instances.length === 0 ? paired : instances)) {
    const found = await leaving(host, name);
    if (!found.ok) return found;
    if (!wanted.some(({ id }) => id === found.value.id)) wanted.push(found.value);
  }
  if (wanted.length === 0) return refuse('notFound', 'no instance has a session');
  const ready: InstanceRecord[] = [];
  for (const record of wanted) {
    const prepared = await prepare(host, record, isToStop);
    if (!prepared.ok) return prepared;
    ready.push(prepared.value);
  }
  const hasRows = request.with.includes('messages');
  host.ports.log.info({ instances: ready.map(({ id }) => id), with: request.with }, 'session.exported');
  return done(host.ports.sources.archive(sessionsOf(host, ready, hasRows), passphrase, hasRows));
};
