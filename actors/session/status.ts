/** Maps a snapshot to one of the four statuses of the API, and to the view of an instance. */
import type { SnapshotFrom } from 'xstate';
import { type InstanceRecord, type PasskeyNotice, type Refusal, refuse, type Status, type Wanted } from '../model.ts';
import { unreadableFieldsReason } from '../policy/close-cause.ts';
import type { InstanceView } from '../views.ts';
import type { InstanceSnapshot } from './instance.ts';
import type { lifecycle } from './lifecycle.ts';
import type { PasskeyOffer } from './passkey.ts';
import type { RecordKeeper } from './record-keeper.ts';

// Instances whose sealed fields cannot be decrypted. They stay offline until these fields are set again.

/** Returns the refusal of every command that needs the session; null if the record is whole. */
export const damageOf = ({
  record: { unreadable },
}: {
  readonly record: InstanceRecord;
}): { readonly ok: false; readonly refusal: Refusal } | null =>
  unreadable === undefined ? null : refuse('conflict', unreadableFieldsReason(unreadable));

/** Returns the record for display. Damage replaces the reason of the last disconnect. */
export const withDamage = (record: InstanceRecord): InstanceRecord =>
  record.unreadable === undefined
    ? record
    : { ...record, lastDisconnectReason: unreadableFieldsReason(record.unreadable), lastDisconnectCause: 'unreadable' };

/** Returns true if the record is damaged, and its wanted state is `online` or `asleep`. */
export const isToBeSetAside = ({ unreadable, wanted }: InstanceRecord): boolean =>
  unreadable !== undefined && (wanted === 'online' || wanted === 'asleep');

/**
 * Stores the instance as offline, with the reason. Otherwise nodes would take the instance again and again. The sealed fields stay as they are, because they
 * cannot be read.
 */
export const setAsideDamaged = ({ keeper }: { readonly keeper: Pick<RecordKeeper, 'record' | 'note'> }, now: number): void =>
  keeper.note({
    wanted: 'offline',
    lastDisconnect: now,
    lastDisconnectReason: unreadableFieldsReason(keeper.record.unreadable ?? ''),
    lastDisconnectCause: 'unreadable',
  });

/** Returns true if a pairing was under way when its node ended. There is no session to restore. */
export const isCutPairing = ({ jid, accountLeaves, wanted }: InstanceRecord): boolean =>
  wanted === 'online' && jid === '' && !accountLeaves;

export type LifecycleSnapshot = SnapshotFrom<typeof lifecycle>;

const words: Readonly<Record<string, Status>> = {
  beginning: 'disconnected',
  disconnected: 'disconnected',
  connecting: 'connecting',
  connected: 'connected',
  hibernated: 'hibernated',
  unlinking: 'disconnected',
};

/** Returns the status. An instance whose chart is being restarted counts as connecting. A failed or stopped instance counts as disconnected. */
export function statusOf(root: InstanceSnapshot['value'], chart: LifecycleSnapshot | null): Status {
  if (root !== 'running' || !chart) return root === 'failed' || root === 'stopped' ? 'disconnected' : 'connecting';
  const top = typeof chart.value === 'string' ? chart.value : Object.keys(chart.value)[0];
  return words[top ?? ''] ?? 'disconnected';
}

/**
 * The time after the creation of a cell during which calls wait for its starting session. If a thousand sessions start at once, the last session connects after
 * 50 s. In milliseconds.
 */
export const beginningMs = 60_000;

/**
 * Returns the state in which an instance begins. A session is restored only if it is paired, or if its change of account was interrupted. A session whose
 * record cannot be decrypted is not restored, because it would connect without its proxy. A logout is resumed in any case, because credentials to delete may
 * exist without a pairing in the record.
 */
export const beginningOf = ({ jid, accountLeaves, wanted, unreadable }: InstanceRecord): Wanted => {
  if (wanted === 'unlinked') return wanted;
  return unreadable !== undefined || (jid === '' && !accountLeaves) ? 'offline' : wanted;
};

const beginnings: Readonly<Record<Wanted, Status>> = {
  offline: 'disconnected',
  online: 'connecting',
  asleep: 'hibernated',
  unlinked: 'disconnected',
};

/** Returns the status of an instance without actors. */
export const restingStatus = (record: InstanceRecord): Status => beginnings[beginningOf(record)];

/** Returns the view of an instance without actors. */
export const restingView = (record: InstanceRecord): InstanceView => ({
  record: withDamage(record),
  status: restingStatus(record),
  connected: false,
  loggedIn: record.jid !== '',
  qrcode: '',
  paircode: '',
  presence: 'unavailable',
});

/** Returns the notice of an offer. The challenge is left out, because only `GET /instance/passkey` returns it. */
const noticeOf = (offer: PasskeyOffer | null): PasskeyNotice | null =>
  offer && { stage: offer.stage, code: offer.code, expiresAt: offer.expiresAt };

export function viewOf(
  record: InstanceRecord,
  root: InstanceSnapshot,
  chart: LifecycleSnapshot | null,
  presence: InstanceView['presence'],
): InstanceView {
  const status = statusOf(root.value, chart);
  return {
    record: withDamage(record),
    status,
    connected: status === 'connected',
    loggedIn: record.jid !== '',
    qrcode: chart?.context.qrcode ?? '',
    paircode: chart?.context.paircode ?? '',
    passkey: noticeOf(chart?.context.passkey ?? null),
    presence: status === 'connected' ? presence : 'unavailable',
  };
}
