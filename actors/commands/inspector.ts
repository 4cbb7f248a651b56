/** Commands of the inspector: queries of states and steps, and the few safe events. */
import type { ActorEvent, InspectorMethods } from '../views.ts';
import { done, refuse, unknownInstance, type InstanceId, type Result } from '../model.ts';
import { charts, chartSource } from '../session/charts.ts';
import type { WithPorts } from './host.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Inspection } from '../inspection/inspection.ts';
import type { Watchers } from '../inspection/watchers.ts';
import type { ConnectionSteps } from './connection.ts';

// Queries.

interface QueryHost {
  readonly cluster: Pick<Cluster, 'rows' | 'shownOwner' | 'watchSteps'> | null;
  readonly inspection: Inspection;
  readonly warnings: readonly string[];
  readonly watchers: Watchers;
}

export const inspectorQueries = (host: QueryHost): Omit<InspectorMethods, 'act'> => {
  const { cluster, inspection, watchers } = host;
  return {
    charts: () => [charts.lifecycle, charts.instance],
    chartSource,
    actors: async (query) => {
      const page = await inspection.page(query, await cluster?.rows.elsewhere());
      const { warnings } = host;
      return warnings.length === 0 || !page.ok ? page : done({ ...page.value, warnings });
    },
    async actor(id) {
      const owner = await cluster?.shownOwner(id);
      const detail = await inspection.detail(id);
      return detail.ok ? done({ ...detail.value, ...owner }) : detail;
    },
    actorPicture: async (id) => inspection.picture(id),
    watchSteps(id, watcher) {
      if (inspection.row(id) === null) return unknownInstance;
      return done(cluster?.watchSteps(id, watcher) ?? watchers.steps(id, watcher));
    },
    watchActors: (watcher) => watchers.list(watcher),
  };
};

// Events.

type EventHost = WithPorts<'log' | 'logLevels' | 'time'> & { readonly dispatcher: Dispatcher; readonly registry: Registry };

/** Returns the log fields of an event in addition to its type. */
const fieldsOf = (event: ActorEvent): object => {
  if (event.type === 'clearCircuit') return { webhook: event.webhookId };
  if (event.type === 'restartWorker') return { worker: event.worker };
  return event.type === 'logLevel' ? { level: event.level, ms: event.ms } : {};
};

function clearCircuit({ dispatcher }: EventHost, id: InstanceId, webhookId: string): Result<null> {
  if (!dispatcher.webhooks.receiving(id).some((webhook) => webhook.id === webhookId)) return refuse('notFound', 'webhook not found');
  dispatcher.clearCircuit(webhookId);
  return done(null);
}

function restartWorker({ registry }: EventHost, id: InstanceId, worker: string | null): Result<null> {
  const count = registry.cells.get(id)?.workers.restart(worker) ?? 0;
  return count > 0 ? done(null) : refuse('conflict', 'no crashed worker waits for its restart');
}

async function execute(host: EventHost, connection: ConnectionSteps, id: InstanceId, event: ActorEvent): Promise<Result<unknown>> {
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

/** Creates the command `act`. Its answer is the state of the instance after the event, which `actor` returns. */
export const inspectorEvents = (
  host: EventHost,
  connection: ConnectionSteps,
  actor: InspectorMethods['actor'],
): Pick<InspectorMethods, 'act'> => ({
  async act(id, event, by) {
    const { log } = host.ports;
    const fields = { instance: id, asked: event.type, ...fieldsOf(event), ...by };
    log.info(fields, 'inspector.asked'); // before the execution, which may take a while
    const outcome = await execute(host, connection, id, event);
    if (outcome.ok) return actor(id);
    log.info({ ...fields, refused: outcome.refusal.reason }, 'inspector.refused');
    return outcome;
  },
});
