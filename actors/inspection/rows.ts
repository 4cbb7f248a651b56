/** Describes the state of an instance and its reason, in the words of the list. */
import type { InstanceRecord } from '../model.ts';
import { isPairingEnd } from '../policy/close-cause.ts';
import type { Cell } from '../session/cell.ts';
import { stateText } from '../session/charts.ts';
import { restingStatus, withDamage } from '../session/status.ts';
import type { Steps } from '../session/steps.ts';
import type { ActorRow } from '../views/inspector.ts';

// Draws the last hour of an instance as 24 letters, derived from its steps.

/**
 * Letters in ascending rank. Each part shows the highest letter. `p`: needs a person. `w`: connecting. `d`: disconnected. `c`: connected. `h`:
 * hibernated. `.`: unknown, because the process or the oldest kept step is newer.
 */
const order = '.hcdwp';
const partMs = 150_000;
const parts = 24;

/** Longest wake of a hibernated session that is not shown as `connecting`. In milliseconds. */
const shortWakeMs = 10_000;

/** True for states that only a person can end. */
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

/** Returns the stripe of an instance that has rested since the start of the process. */
export const restingHour = (letter: string, since: number, now: number): string =>
  drawn([{ letter, from: Math.max(since, now - parts * partMs), to: now }], now - parts * partMs);

/** A row without the fields that only the rows of a page have. */
export type LightRow = Omit<ActorRow, 'outbox' | 'hour' | 'picture'>;

export const numberText = (owner: string): string => (owner === '' ? '' : `…${owner.slice(-4)}`);

interface Why {
  readonly reason: string;
  readonly cause: string;
}

const nothing: Why = { reason: '', cause: '' };
const crashedTooOften: Why = { reason: 'the session crashed too often', cause: 'crashed' };

/** The text of a crash that is stored may quote anything. */
const storedWhy = (record: InstanceRecord): Why => {
  const { lastDisconnectReason, lastDisconnectCause } = withDamage(record);
  return lastDisconnectCause === 'crashed' ? crashedTooOften : { reason: lastDisconnectReason, cause: lastDisconnectCause };
};

/** A damaged record needs a person. A device that is paired and that nobody wants online was refused; one that the phone removed has no credentials any more. */
const isLeftToPerson = ({ wanted, jid, lastDisconnectCause, unreadable }: InstanceRecord): boolean =>
  unreadable !== undefined || (wanted === 'offline' && (jid !== '' || lastDisconnectCause === 'loggedOut'));

/** True if a pairing ended without a device, and no session was live since. */
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

/** Returns the path in the chart of the session, or the state of the root if there is no chart. */
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
