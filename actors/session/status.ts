/** One function turns a snapshot into the four words of the API, one more into the view of an instance. */
import type { SnapshotFrom } from 'xstate';
import type { InstanceView } from '../face.ts';
import type { InstanceRecord, PasskeyNotice, Status, Wanted } from '../model.ts';
import type { InstanceSnapshot } from './instance.ts';
import type { lifecycle } from './lifecycle.ts';
import type { PasskeyOffer } from './passkey.ts';

export type LifecycleSnapshot = SnapshotFrom<typeof lifecycle>;

const words: Readonly<Record<string, Status>> = {
  beginning: 'disconnected',
  disconnected: 'disconnected',
  connecting: 'connecting',
  connected: 'connected',
  hibernated: 'hibernated',
  unlinking: 'disconnected',
};

/** An instance whose chart is being restarted is on its way back; one that failed is disconnected. */
export function statusOf(root: InstanceSnapshot['value'], chart: LifecycleSnapshot | null): Status {
  if (root !== 'running' || !chart) return root === 'failed' || root === 'stopped' ? 'disconnected' : 'connecting';
  const top = typeof chart.value === 'string' ? chart.value : Object.keys(chart.value)[0];
  return words[top ?? ''] ?? 'disconnected';
}

/** Milliseconds in which calls wait for a session that begins: of a thousand that begin at once the last has its turn after 50 s. Later calls do not wait. */
export const beginningMs = 60_000;

/** Only a paired session is brought back by itself. Credentials that somebody wants deleted may exist without a pairing in the record. */
export const beginningOf = ({ jid, accountLeaves, wanted }: InstanceRecord): Wanted =>
  jid === '' && !accountLeaves && wanted !== 'unlinked' ? 'offline' : wanted;

const beginnings: Readonly<Record<Wanted, Status>> = {
  offline: 'disconnected',
  online: 'connecting',
  asleep: 'hibernated',
  unlinked: 'disconnected',
};

/** Status of an instance whose actors are not made yet. */
export const restingStatus = (record: InstanceRecord): Status => beginnings[beginningOf(record)];

/** View of an instance whose actors are not made yet. */
export const restingView = (record: InstanceRecord): InstanceView => ({
  record,
  status: restingStatus(record),
  connected: false,
  loggedIn: record.jid !== '',
  qrcode: '',
  paircode: '',
  presence: 'unavailable',
});

/** An offer without what has to be signed, which only its own call shows. */
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
    record,
    status,
    connected: status === 'connected',
    loggedIn: record.jid !== '',
    qrcode: chart?.context.qrcode ?? '',
    paircode: chart?.context.paircode ?? '',
    passkey: noticeOf(chart?.context.passkey ?? null),
    presence: status === 'connected' ? presence : 'unavailable',
  };
}
