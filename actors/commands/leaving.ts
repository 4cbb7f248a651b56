/** Sessions leave as an archive. A session that runs is stopped first, or refused: its keys change while they are read. */
import type { ExportRequest, Gateway } from '../views.ts';
import { done, refuse, type InstanceId, type InstanceRecord, type Result } from '../model.ts';
import type { LeavingSession } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Supervisor } from '../supervisor.ts';
import { onSettled, settled } from './settling.ts';

const elsewhere = refuse('conflict', 'another node owns the instance: ask that node for the export');

/** A session that sleeps would be woken by its next message: without its chart the instance is one that was never connected. */
const forgetSleep = async (supervisor: Supervisor, cell: Cell): Promise<void> => {
  await cell.close();
  cell.end();
  supervisor.registry.drop(cell.record.id);
};

/** Closes the session without a logout. The instance stays disconnected until somebody connects it. */
const stop = (supervisor: Supervisor, id: InstanceId): Promise<Result<null>> =>
  onSettled(supervisor, id, async (cell) => {
    await cell.keeper.save({ wanted: 'offline' });
    cell.send({ type: 'instance.stop', by: 'api' });
    await settled(supervisor, cell);
    await cell.stored();
    if (cell.status === 'hibernated') await forgetSleep(supervisor, cell);
    return done(null);
  });

/** Neither connected nor about to be, after a restart or by itself. */
const isResting = (supervisor: Supervisor, { id, wanted }: InstanceRecord): boolean =>
  wanted === 'offline' && supervisor.registry.status(id) === 'disconnected' && supervisor.registry.cells.get(id)?.closing !== true;

async function prepare(supervisor: Supervisor, id: InstanceId, isToStop: boolean): Promise<Result<InstanceRecord>> {
  const record = supervisor.registry.record(id);
  if (record === undefined) return refuse('notFound', `there is no instance ${id}`);
  if (!supervisor.registry.owns(id) && supervisor.cluster !== null) return elsewhere;
  if (isToStop) {
    const stopped = await stop(supervisor, id);
    if (!stopped.ok) return stopped;
  }
  const now = supervisor.registry.record(id) ?? record;
  if (!isResting(supervisor, now)) return refuse('conflict', `the session of the instance ${id} runs: \`stop\` closes it first`);
  return done(now);
}

/** Settings that another gateway of this kind takes over. */
const settingsOf = (record: InstanceRecord): LeavingSession['settings'] => {
  const { systemName, browser, system, adminField01, adminField02, fieldsMap, msgDelayMin, msgDelayMax } = record;
  return { systemName, browser, system, adminField01, adminField02, fieldsMap, msgDelayMin, msgDelayMax };
};

async function* sessionsOf(supervisor: Supervisor, all: readonly InstanceRecord[]): AsyncIterable<LeavingSession> {
  for (const record of all) {
    const { id, name, token, proxy } = record;
    const credentials = await supervisor.ports.sessions.credentials(id);
    if (credentials === null) continue;
    const webhooks = supervisor.dispatcher.webhooks
      .receivers(id)
      .map(({ id: _id, instanceId: _instance, managed: _managed, created: _created, chatwoot: _chatwoot, ...webhook }) => webhook);
    yield {
      name,
      token,
      proxy: proxy?.mode === 'custom' ? proxy.url : '',
      webhooks,
      settings: settingsOf(record),
      credentials,
      keys: () => supervisor.ports.sessions.keys(id),
    };
  }
}

/** Sessions that run are told before the first byte leaves. */
export const leave = async (supervisor: Supervisor, request: ExportRequest): ReturnType<Gateway['exportSessions']> => {
  const { instances, passphrase, stop: isToStop } = request;
  const paired = [...supervisor.registry.ids].filter((id) => supervisor.registry.record(id)?.jid !== '');
  const ready: InstanceRecord[] = [];
  for (const id of instances.length === 0 ? paired : instances) {
    const prepared = await prepare(supervisor, id, isToStop);
    if (!prepared.ok) return prepared;
    if (prepared.value.jid === '') return refuse('conflict', `the instance ${id} has no session`);
    ready.push(prepared.value);
  }
  if (ready.length === 0) return refuse('notFound', 'no instance has a session');
  supervisor.ports.log.info({ instances: ready.map(({ id }) => id) }, 'session.exported');
  return done(supervisor.ports.sources.archive(sessionsOf(supervisor, ready), passphrase));
};
