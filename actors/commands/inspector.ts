/** Commands of the inspector: queries of states and steps, and the few safe events. */
import type { ActorDetail, ActorEvent, Asker, InspectorMethods } from '../views.ts';
import { done, refuse, unknownInstance, type InstanceId, type Result } from '../model.ts';
import { StorageFailure } from '../ports.ts';
import { charts, chartSource } from '../session/charts.ts';
import type { WithPorts } from './host.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Inspection } from '../inspection/inspection.ts';
import type { StepLog } from '../inspection/step-log.ts';
import type { Watchers } from '../inspection/watchers.ts';
import type { ConnectionSteps } from './connection.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithPorts<'log' | 'logLevels' | 'platform' | 'time'> & {
  readonly cluster: Pick<Cluster, 'overview' | 'ownership' | 'rows' | 'watchSteps'> | null;
  readonly dispatcher: Dispatcher;
  readonly inspection: Inspection;
  readonly stepLog: StepLog;
  readonly registry: Registry;
  readonly warnings: readonly string[];
  readonly watchers: Watchers;
};

/** The largest number of steps of one instance, including steps of earlier processes. */
const mostSteps = 100;

/** Returns the log fields of an event in addition to its type. */
const fieldsOf = (event: ActorEvent): object => {
  if (event.type === 'clearCircuit') return { webhook: event.webhookId };
  if (event.type === 'restartWorker') return { worker: event.worker };
  return event.type === 'logLevel' ? { level: event.level, ms: event.ms } : {};
};

function clearCircuit({ dispatcher }: Host, id: InstanceId, webhookId: string): Result<null> {
  if (!dispatcher.webhooks.receiving(id).some((webhook) => webhook.id === webhookId)) return refuse('notFound', 'webhook not found');
  dispatcher.clearCircuit(webhookId);
  return done(null);
}

function restartWorker({ registry }: Host, id: InstanceId, worker: string | null): Result<null> {
  const count = registry.cells.get(id)?.workers.restart(worker) ?? 0;
  return count > 0 ? done(null) : refuse('conflict', 'no crashed worker waits for its restart');
}

async function execute(host: Host, connection: ConnectionSteps, id: InstanceId, event: ActorEvent): Promise<Result<unknown>> {
  if (host.registry.record(id) === undefined) return unknownInstance;
  switch (event.type) {
    case 'clearCircuit':
      return clearCircuit(host, id, event.webhookId);
    case 'restartWorker':
      return restartWorker(host, id, event.worker);
    case 'logLevel':
      return done(host.ports.logLevels.set(id, event.level, host.ports.time.now() + event.ms));
    default:
      return connection[event.type](id, 'admin');
  }
}

/** Returns the lease of the instance. A database outage hides only the lease, because the inspector is needed most during an outage. */
const leaseOf = async ({ cluster }: Host, id: InstanceId): Promise<Pick<ActorDetail, 'lease' | 'node'>> => {
  if (cluster === null) return {};
  const lease = await cluster.overview.leaseOf(id).catch(nullWhenAway);
  if (lease === null) return { node: '', lease };
  const { node, since, cause } = lease;
  return { node, lease: { node, since, cause, answers: cluster.ownership.owns(id) } };
};

const nullWhenAway = (error: unknown): null => {
  if (error instanceof StorageFailure) return null;
  throw error;
};

async function detailOf(host: Host, id: InstanceId): Promise<Result<ActorDetail>> {
  const owner = await leaseOf(host, id);
  const detail = host.inspection.detail(id);
  if (!detail.ok) return detail;
  const { steps } = detail.value;
  // A gap inside the steps in memory is not filled from storage.
  const isWhole = steps.length === 0 || steps[0]?.n === 1;
  const former = isWhole ? await host.stepLog.before(id, steps[0]?.at ?? Infinity) : [];
  return done({ ...detail.value, ...owner, steps: [...former, ...steps].slice(-mostSteps) });
}

/** Logs the event before its execution, because the execution may take a while. */
async function act(host: Host, connection: ConnectionSteps, id: InstanceId, event: ActorEvent, by: Asker): Promise<Result<ActorDetail>> {
  const fields = { instance: id, asked: event.type, ...fieldsOf(event), ...by };
  host.ports.log.info(fields, 'inspector.asked');
  const outcome = await execute(host, connection, id, event);
  if (outcome.ok) return detailOf(host, id);
  host.ports.log.info({ ...fields, refused: outcome.refusal.reason }, 'inspector.refused');
  return outcome;
}

export const inspectorCommands = (host: Host, connection: ConnectionSteps): InspectorMethods => {
  const { inspection, watchers, registry } = host;
  return {
    charts: () => [charts.lifecycle, charts.instance],
    chartSource,
    actors: async (query) => {
      const page = await inspection.page(query, await host.cluster?.rows.elsewhere());
      const { warnings } = host;
      return warnings.length === 0 || !page.ok ? page : done({ ...page.value, warnings });
    },
    actor: (id) => detailOf(host, id),
    actorPicture: async (id) => (registry.record(id) === undefined ? null : host.ports.platform.picture(id)),
    watchSteps(id, watcher) {
      if (registry.record(id) === undefined) return unknownInstance;
      return done(host.cluster?.watchSteps(id, watcher) ?? watchers.steps(id, watcher));
    },
    watchActors: (watcher) => watchers.list(watcher),
    act: (id, event, by) => act(host, connection, id, event, by),
  };
};
