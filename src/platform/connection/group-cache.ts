/** The groups of one connection, kept by events: sends and names never ask the platform for a group that is known. */
import type { BaileysEventMap, GroupMetadata } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/from-baileys.ts';

export interface GroupCache {
  get(jid: string): GroupMetadata | undefined;
  put(group: GroupMetadata): void;
  /** '' when the group is unknown. */
  name(jid: string): string;
  /** Keeps what an event tells; all others are ignored. */
  learn(event: BaileysEvent): void;
}

const withChange = (group: GroupMetadata, { action, participants }: BaileysEventMap['group-participants.update']): GroupMetadata => {
  const ids = new Set(participants.map(({ id }) => id));
  const others = group.participants.filter(({ id }) => !ids.has(id));
  switch (action) {
    case 'add':
      return { ...group, participants: [...others, ...participants] };
    case 'remove':
      return { ...group, participants: others };
    case 'promote':
    case 'demote': {
      const admin = action === 'promote' ? 'admin' : null;
      return { ...group, participants: group.participants.map((member) => (ids.has(member.id) ? { ...member, admin } : member)) };
    }
    case 'modify':
      return group;
  }
};

const isComplete = (group: Partial<GroupMetadata>): group is GroupMetadata => group.id !== undefined && group.participants !== undefined;

export const createGroupCache = (): GroupCache => {
  const groups = new Map<string, GroupMetadata>();
  const update = (change: Partial<GroupMetadata>): void => {
    if (isComplete(change)) return void groups.set(change.id, change);
    const known = groups.get(change.id ?? '');
    if (known !== undefined) groups.set(known.id, { ...known, ...change });
  };
  return {
    get: (jid) => groups.get(jid),
    put: (group) => void groups.set(group.id, group),
    name: (jid) => groups.get(jid)?.subject ?? '',
    learn(event) {
      if (event.name === 'groups.upsert' || event.name === 'groups.update') event.data.forEach(update);
      if (event.name !== 'group-participants.update') return;
      const known = groups.get(event.data.id);
      if (known !== undefined) groups.set(known.id, withChange(known, event.data));
    },
  };
};
