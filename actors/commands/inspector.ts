/** Questions about where instances are and how they came there, and the few safe events that may be sent to them. */
import type { ActorDetail, ActorEvent, Asker, Gateway } from '../face.ts';
import { done, refuse, type InstanceId, type Result } from '../model.ts';
import { chartSource } from '../session/chart-source.ts';
import { charts } from '../session/charts.ts';
import type { Supervisor } from '../supervisor.ts';
import { connectionSteps } from './connection.ts';
import { onSettled } from './settling.ts';

type InspectorCommands = Pick<
  Gateway,
  'charts' | 'chartSource' | 'actors' | 'actor' | 'actorPicture' | 'watchSteps' | 'watchActors' | 'act'
>;

/** What the log says of an event beside its type. */
const fieldsOf = (event: ActorEvent): object => {
  if (event.type === 'clearCircuit') return { webhook: event.webhookId };
  if (event.type === 'restartWorker') return { worker: event.worker };
  return event.type === 'logLevel' ? { level: event.level, ms: event.ms } : {};
};

function clearCircuit({ dispatcher }: Supervisor, id: InstanceId, webhookId: string): Result<null> {
  if (!dispatcher.webhooks.receiving(id).some((webhook) => webhook.id === webhookId)) return refuse('notFound', 'webhook not found');
  dispatcher.clearCircuit(webhookId);
  return done(null);
}

function restartWorker({ registry }: Supervisor, id: InstanceId, worker: string | null): Result<null> {
  const count = registry.cells.get(id)?.workers.restart(worker) ?? 0;
  return count > 0 ? done(null) : refuse('conflict', 'no crashed worker waits for its restart');
}

async function perform(supervisor: Supervisor, id: InstanceId, event: ActorEvent): Promise<Result<unknown>> {
  if (supervisor.registry.record(id) === undefined) return refuse('notFound', 'instance not found');
  switch (event.type) {
    case 'clearCircuit':
      return clearCircuit(supervisor, id, event.webhookId);
    case 'restartWorker':
      return restartWorker(supervisor, id, event.worker);
    case 'logLevel':
      return done(supervisor.ports.logLevels.set(id, event.level, supervisor.ports.time.now() + event.ms));
    default:
      return onSettled(supervisor, id, (cell) => connectionSteps[event.type](supervisor, cell, 'admin'));
  }
}

/** The line of the log stands before the outcome, since that may take a while. */
async function act(supervisor: Supervisor, id: InstanceId, event: ActorEvent, by: Asker): Promise<Result<ActorDetail>> {
  const fields = { instance: id, asked: event.type, ...fieldsOf(event), ...by };
  supervisor.ports.log.info(fields, 'inspector.asked');
  const outcome = await perform(supervisor, id, event);
  if (outcome.ok) return supervisor.inspection.detail(id);
  supervisor.ports.log.info({ ...fields, refused: outcome.refusal.reason }, 'inspector.refused');
  return outcome;
}

export const inspectorCommands = (supervisor: Supervisor): InspectorCommands => {
  const { inspection, watchers, registry } = supervisor;
  return {
    charts: () => [charts.lifecycle, charts.instance],
    chartSource,
    actors: (query) => inspection.page(query),
    actor: (id) => inspection.detail(id),
    actorPicture: (id) => (registry.record(id) === undefined ? null : supervisor.ports.platform.picture(id)),
    watchSteps: (id, watcher) =>
      registry.record(id) === undefined ? refuse('notFound', 'instance not found') : done(watchers.steps(id, watcher)),
    watchActors: (watcher) => watchers.list(watcher),
    act: (id, event, by) => act(supervisor, id, event, by),
  };
};
