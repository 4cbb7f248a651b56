/** Lists the parts of one instance with their states, for its page in the inspector. */
import type { CourierPart, Part, PartState } from '../views/inspector.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { InstanceId, Webhook } from '../model.ts';
import type { Cell } from '../session/cell.ts';

const downNote = ['trouble', 'crashed, restarts soon'] as const;

const some = (count: number, what: string): string => (count === 0 ? 'none' : `${count} ${what}`);

const inSeconds = (ms: number): string => `${Math.max(0, Math.ceil(ms / 1000))} s`;

const linkPart = (cell: Cell, state: string): Part => {
  const isOpening = /^(connecting|unlinking)\.(opening|authenticating|pairing)$/.test(state);
  const isClosing = cell.closing && !isOpening;
  const part: readonly [PartState, string] =
    cell.status === 'connected'
      ? ['ok', 'live']
      : isOpening
        ? ['busy', state.split('.')[1] ?? '']
        : isClosing
          ? ['busy', 'closing']
          : ['off', 'no connection'];
  return { id: 'link', state: part[0], note: part[1], waiting: 0, crashes: 0 };
};

const supervisorPart = (cell: Cell, crashes: number): Part => {
  const { state } = cell.supervision;
  const note = crashes === 0 ? 'no crash' : `${crashes} ${crashes === 1 ? 'crash' : 'crashes'}`;
  const how: PartState = state === 'running' ? 'ok' : state === 'stopped' ? 'off' : 'trouble';
  return { id: 'supervisor', state: how, note: `${state}, ${note}`, waiting: 0, crashes };
};

/** Returns the part of a background worker. The state is `trouble` while the worker waits for its restart. */
const workerPart = (cell: Cell, id: string, waiting: number, trouble = ''): Part => {
  const crashes = cell.workers.crashes[id] ?? 0;
  const isDown = cell.workers.down.includes(id);
  const state: PartState = isDown || trouble !== '' ? 'trouble' : waiting > 0 ? 'busy' : 'ok';
  const note = isDown ? downNote[1] : trouble === '' ? `${waiting} wait` : `${trouble}, ${waiting} wait`;
  return { id, state, note, waiting, crashes };
};

const queuePart = ({ queue, status }: Cell): Part => {
  const { pending } = queue;
  const note = pending === 0 ? 'empty' : `${pending} wait${status === 'connected' ? '' : ' for the session'}`;
  return { id: 'queue', state: pending > 0 ? 'busy' : 'ok', note, waiting: pending, crashes: 0 };
};

/** The rest of an instance's campaigns. `nextAt` is the end of the rest in Unix milliseconds, or null without a rest. */
export interface CampaignsAtWork {
  readonly nextAt: number | null;
}

const campaignPart = ({ status }: Cell, { nextAt }: CampaignsAtWork, now: number): Part => {
  const resting = nextAt === null ? 'sending' : `next message in ${inSeconds(nextAt - now)}`;
  return { id: 'campaigns', state: 'busy', note: status === 'connected' ? resting : 'wait for the session', waiting: 0, crashes: 0 };
};

const courierNote = (webhook: Webhook, part: CourierPart, waiting: number, now: number): readonly [PartState, string] => {
  if (!webhook.enabled) return ['off', 'switched off'];
  const { lanes, circuit } = part;
  if (circuit.open) return ['trouble', `circuit open, probe in ${inSeconds(circuit.until - now)}`];
  if (circuit.failures > 0) return ['trouble', `${some(circuit.failures, circuit.failures === 1 ? 'failure' : 'failures in a row')}`];
  if (waiting > 0) return ['busy', `sending, ${lanes.used} of ${lanes.of} lanes`];
  return ['ok', 'nothing waits'];
};

const courierPart = (cell: Cell, dispatcher: Dispatcher, webhook: Webhook, now: number): Part => {
  const found = cell.courier(webhook.id);
  const view = found === 'down' ? null : found;
  const circuit = {
    open: dispatcher.pausedUntil(webhook.id) > 0,
    failures: dispatcher.failures(webhook.id),
    until: dispatcher.pausedUntil(webhook.id),
  };
  const host = URL.parse(webhook.url)?.host ?? '';
  const health = dispatcher.health(webhook.id)?.report ?? null;
  const courier: CourierPart = { webhookId: webhook.id, host, lanes: view?.lanes ?? { used: 0, of: 0 }, circuit, health };
  const waiting = view?.waiting ?? 0;
  const [state, note] = found === 'down' ? downNote : courierNote(webhook, courier, waiting, now);
  return { id: `courier.${webhook.id}`, state, note, waiting, crashes: cell.workers.crashes['courier'] ?? 0, courier };
};

export interface PartsInput {
  readonly dispatcher: Dispatcher;
  /** Null if the instance has no campaigns under way. */
  readonly campaigns: CampaignsAtWork | null;
  readonly now: number;
}

export const partsOf = (cell: Cell, state: string, { dispatcher, campaigns, now }: PartsInput): readonly Part[] => {
  const { operations } = cell;
  const webhooks = dispatcher.webhooks.receiving(cell.record.id);
  return [
    supervisorPart(cell, cell.vitals.view.crashes),
    linkPart(cell, state),
    { id: 'operations', state: operations > 0 ? 'busy' : 'off', note: some(operations, 'under way'), waiting: operations, crashes: 0 },
    workerPart(cell, 'recorder', cell.recorder.waiting, cell.recorder.away ? 'the database does not answer' : ''),
    workerPart(cell, 'recordKeeper', cell.keeper.waiting),
    queuePart(cell),
    ...(campaigns === null ? [] : [campaignPart(cell, campaigns, now)]),
    ...webhooks.map((webhook) => courierPart(cell, dispatcher, webhook, now)),
  ];
};

/**
 * Returns the number of deliveries of the instance that wait. The number includes the last count of the outbox if memory does not hold all due rows.
 * Deliveries of the global webhook are not counted by instance, so only those in memory count.
 */
export const outboxOf = (instance: InstanceId, cell: Cell | undefined, dispatcher: Dispatcher): number => {
  let sum = 0;
  for (const { id, instanceId } of dispatcher.webhooks.receiving(instance)) {
    const found = cell?.courier(id) ?? null;
    const view = found === 'down' ? null : found;
    const { waiting, parked } = instanceId === null ? nothingCounted : dispatcher.sweeper.counted(id);
    sum += (view?.isBehind === false ? view.waiting : Math.max(view?.waiting ?? 0, waiting)) + parked;
  }
  return sum;
};

const nothingCounted = { waiting: 0, parked: 0 };
