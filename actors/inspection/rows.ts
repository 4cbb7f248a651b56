/** Describes the state of an instance and its reason, in the words of the list. */
import type { ActorRow } from '../views/inspector.ts';
import type { InstanceRecord } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import { isPairingEnd } from '../policy/close-cause.ts';
import { restingStatus, withDamage } from '../session/status.ts';
import { stateText } from '../session/charts.ts';
import { needsPerson } from './hour.ts';

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
