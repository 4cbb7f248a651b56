/** Describes the state of an instance and its reason for the list, and the parts of one instance for its page. */
import type { InstanceId, InstanceRecord, Webhook } from '../model.ts';
import { isPairingEnd } from '../policy/close-cause.ts';
import type { Cell } from '../session/cell.ts';
import { stateText } from '../session/charts.ts';
import { restingStatus, withDamage } from '../session/status.ts';
import type { Steps } from '../session/steps.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { ActorRow, CourierPart, Part, PartState } from '../views/inspector.ts';

// Draws the last hour of an instance as 24 letters, derived from its steps.

/**
 * Letters in ascending rank. Each part shows the highest letter. `p`: needs a person. `w`: connecting. `d`: disconnected. `c`: connected. `h`: hibernated. `.`:
 * unknown, because the part is before the start of the process or before the oldest kept step.
 */
const order = '.hcdwp';
const partMs = 150_000;
const parts = 24;

/** Longest wake of a hibernated session that is not shown as `connecting`. In milliseconds. */
const shortWakeMs = 10_000;

/** Returns true for states that only a person can end. */
const needsPerson = (state: string): boolean =>
  state === 'disconnected.refused' || state === 'disconnected.loggedOut' || state === 'failed';

const tops: Readonly<Record<string, string>> = { connected: 'c', connecting: 'w', hibernated: 'h', crashed: 'w', beginning: '.' };

export const letterOf = (state: string): string => {
  if (needsPerson(state)) return 'p';
  return tops[state.split('.')[0] ?? ''] ?? 'd';
};

interface Span {
  letter: string;
  from: number;
  to: number;
}

const rootLetters: Readonly<Record<string, string>> = { recovering: 'w', deciding: 'w', restarting: 'w', failed: 'p', stopped: 'd' };

/** Returns spans, newest first. Adjacent spans with the same letter are merged. */
const spansOf = (steps: Steps, since: number, now: number): readonly Span[] => {
  const spans: Span[] = [];
  const add = (letter: string, from: number, to: number): void => {
    const last = spans.at(-1);
    if (last?.letter === letter) last.from = from;
    else spans.push({ letter, from, to });
  };
  let end = now;
  let before = '.';
  for (const { at, chart, from, to } of steps.backwards()) {
    const letter = chart === 'lifecycle' ? letterOf(to) : rootLetters[to];
    if (letter === undefined) continue; // The root runs, so the chart of the session has the state.
    add(letter, at, end);
    end = at;
    before = chart === 'lifecycle' ? letterOf(from) : (rootLetters[from] ?? '.');
    if (at < since) return spans;
  }
  add(before, since, end);
  return spans;
};

const isShortWake = ({ letter, from, to }: Span, earlier: Span | undefined): boolean =>
  letter === 'w' && earlier?.letter === 'h' && to - from < shortWakeMs;

const drawn = (spans: readonly Span[], start: number): string => {
  const ranks = Array.from({ length: parts }, () => 0);
  for (const [index, span] of spans.entries()) {
    if (isShortWake(span, spans[index + 1])) continue;
    const first = Math.max(0, Math.floor((span.from - start) / partMs));
    const last = Math.min(parts - 1, Math.floor((span.to - start) / partMs));
    for (let part = first; part <= last; part += 1) ranks[part] = Math.max(ranks[part] ?? 0, order.indexOf(span.letter));
  }
  return ranks.map((rank) => order[rank]).join('');
};

export function hourOf(steps: Steps, now: number): string {
  const start = now - parts * partMs;
  return drawn(spansOf(steps, start, now), start);
}

/** Returns the letters of an instance that had no actors since the start of the process. */
export const restingHour = (letter: string, since: number, now: number): string =>
  drawn([{ letter, from: Math.max(since, now - parts * partMs), to: now }], now - parts * partMs);

/** A row without the fields that are computed only for the rows of a page. */
export type LightRow = Omit<ActorRow, 'outbox' | 'hour' | 'picture'>;

const numberText = (owner: string): string => (owner === '' ? '' : `…${owner.slice(-4)}`);

interface Why {
  readonly reason: string;
  readonly cause: string;
}

const nothing: Why = { reason: '', cause: '' };
const crashedTooOften: Why = { reason: 'the session crashed too often', cause: 'crashed' };

/** Returns the stored reason. A fixed text replaces the stored text of a crash, because that text may quote any data. */
const storedWhy = (record: InstanceRecord): Why => {
  const { lastDisconnectReason, lastDisconnectCause } = withDamage(record);
  return lastDisconnectCause === 'crashed' ? crashedTooOften : { reason: lastDisconnectReason, cause: lastDisconnectCause };
};

/** Returns true if only a person can help: the record is damaged, the platform refused the paired device, or the phone removed the device. */
const isLeftToPerson = ({ wanted, jid, lastDisconnectCause, unreadable }: InstanceRecord): boolean =>
  unreadable !== undefined || (wanted === 'offline' && (jid !== '' || lastDisconnectCause === 'loggedOut'));

/** Returns true if a pairing ended without a device, and no session was live since. */
const wasNotPaired = ({ lastDisconnectCause, lastDisconnect, lastActiveAt }: InstanceRecord): boolean =>
  isPairingEnd(lastDisconnectCause) && (lastDisconnect ?? 0) >= lastActiveAt;

const whyOf = (cell: Cell, state: string): Why => {
  if (state === 'failed') return crashedTooOften;
  if (state === 'crashed') return { reason: 'the session crashed and is restarting', cause: 'crashed' };
  const { status, lifecycle, record } = cell;
  if (status === 'connected' || status === 'hibernated') return nothing;
  const verdict = lifecycle?.context.verdict;
  if (verdict) return verdict.cause === 'restartRequired' ? nothing : { reason: verdict.sentence, cause: verdict.cause };
  return status === 'disconnected' && (isLeftToPerson(record) || wasNotPaired(record)) ? storedWhy(record) : nothing;
};

/** Returns the path in the chart of the session. Without a chart, returns `failed`, `stopped` or `crashed`. */
export const stateOf = (cell: Cell): string => {
  const chart = cell.lifecycle;
  const root = cell.supervision.state;
  if (root === 'running' && chart) return stateText(chart.value);
  return root === 'failed' || root === 'stopped' ? root : 'crashed';
};

export const liveRow = (cell: Cell): LightRow => {
  const { record, status } = cell;
  const state = stateOf(cell);
  const isCrash = state === 'failed' || state === 'crashed';
  return {
    id: record.id,
    name: record.name,
    number: numberText(record.owner),
    status,
    state,
    needsPerson: needsPerson(state) || (state === 'disconnected.idle' && isLeftToPerson(record)),
    linked: record.jid !== '',
    since: cell.steps.enteredAt(isCrash ? 'instance' : 'lifecycle') ?? record.created,
    ...whyOf(cell, state),
    lastEvent: cell.activity.at,
    queue: cell.queue.pending,
  };
};

/** The states in which instances without actors would begin. */
export const restingStates = {
  connected: 'connected',
  connecting: 'connecting.admission',
  hibernated: 'hibernated.asleep',
  disconnected: 'disconnected.idle',
};

/** Returns the row of an instance without actors. */
export const restingRow = (record: InstanceRecord): LightRow => {
  const status = restingStatus(record);
  const needs = status === 'disconnected' && isLeftToPerson(record);
  return {
    id: record.id,
    name: record.name,
    number: numberText(record.owner),
    status,
    state: restingStates[status],
    needsPerson: needs,
    linked: record.jid !== '',
    since: status === 'disconnected' ? (record.lastDisconnect ?? record.created) : record.lastActiveAt,
    ...(needs || (status === 'disconnected' && wasNotPaired(record)) ? storedWhy(record) : nothing),
    lastEvent: record.lastActiveAt,
    queue: 0,
  };
};

// Lists the parts of one instance with their states, for its page in the inspector.

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

/** The pause of an instance's campaigns. `nextAt`: the end of the pause in Unix milliseconds, or null without a pause. */
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

interface PartsInput {
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
 * Returns the number of waiting deliveries of the instance. The number includes the last count of the outbox if memory does not contain all due rows.
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
