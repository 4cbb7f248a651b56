/** Instances whose sealed fields do not open: they stay offline until somebody sets these fields anew. */
import { refuse, type InstanceRecord, type Refusal } from '../model.ts';
import { unreadableText } from '../policy/close-cause.ts';
import type { RecordKeeper } from './record-keeper.ts';

/** Returns the refusal of every command that needs the session; null if the record is whole. */
export const damageOf = ({
  record: { unreadable },
}: {
  readonly record: InstanceRecord;
}): { readonly ok: false; readonly refusal: Refusal } | null =>
  unreadable === undefined ? null : refuse('conflict', unreadableText(unreadable));

/** Returns the record as people see it: with the damage as its reason. */
export const withDamage = (record: InstanceRecord): InstanceRecord =>
  record.unreadable === undefined
    ? record
    : { ...record, lastDisconnectReason: unreadableText(record.unreadable), lastDisconnectCause: 'unreadable' };

/** True if the record is damaged, and says that the session shall be online or asleep. */
export const isToBeSetAside = ({ unreadable, wanted }: InstanceRecord): boolean =>
  unreadable !== undefined && (wanted === 'online' || wanted === 'asleep');

/** Stores that the instance is offline, and why. Nodes would take it again and again otherwise. No sealed column is written. */
export const setAsideDamaged = ({ keeper }: { readonly keeper: Pick<RecordKeeper, 'record' | 'note'> }, now: number): void =>
  keeper.note({
    wanted: 'offline',
    lastDisconnect: now,
    lastDisconnectReason: unreadableText(keeper.record.unreadable ?? ''),
    lastDisconnectCause: 'unreadable',
  });
