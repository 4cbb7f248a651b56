/** The rules of the address book and of groups: the rows that a commit writes or removes. */
import {
  type ChatPatch,
  type Contact,
  type Entry,
  type Group,
  groupAfter,
  type GroupChange,
  type GroupFacts,
  type GroupMember,
  type PersonPair,
} from '#actors/model.ts';
import { keyText } from '../postgres/parameters.ts';
import { makeRowSet } from './columns.ts';

// The rules of the address book. Entries about a chat contain the names of its people.

export interface ContactOutcome {
  readonly contacts: readonly Contact[];
  /** Ids of contacts under a LID that were merged into the contact under the person's phone number. */
  readonly goneContacts: readonly string[];
}

const isPersonId = (id: string): boolean => id.endsWith('@s.whatsapp.net') || id.endsWith('@lid');

const names = ({ chatId, contactName, pushName }: ChatPatch): boolean =>
  isPersonId(chatId) && (contactName !== undefined || Boolean(pushName));

const patchesOf = (entry: Entry): readonly ChatPatch[] => {
  if (entry.kind === 'chat') return [entry.chat];
  return entry.kind === 'history' && entry.past.of === 'chats' ? entry.past.items : [];
};

/** Returns the ids of the contacts that an entry changes. */
export const contactsIn = (entry: Entry): readonly string[] =>
  (entry.kind === 'samePerson' ? entry.people : patchesOf(entry).filter(names))
    .flatMap(({ chatId, chatLid = '' }) => [chatId, chatLid])
    .filter((id) => id !== '')
    .map(keyText);

export class ContactLedger {
  readonly #kept = new Map<string, Contact>();
  readonly #changed = new Map<string, Contact>();
  readonly #gone = new Set<string>();

  constructor(known: readonly Contact[]) {
    for (const contact of known) this.#kept.set(contact.contactId, contact);
  }

  /** Returns the known names of the person of a new chat. */
  namesOf(chatId: string): ChatPatch | null {
    const { name = '', pushName = '', lid = '' } = this.#kept.get(keyText(chatId)) ?? {};
    if (name === '' && pushName === '') return null;
    return { chatId, contactName: name, pushName, ...(lid === '' ? {} : { chatLid: lid }) };
  }

  /** Applies the names of a patch. Returns true if the name in the address book changed. */
  apply(patch: ChatPatch): boolean {
    if (!names(patch)) return false;
    const contactId = keyText(patch.chatId);
    const lid = keyText(patch.chatLid ?? '');
    const twin = lid !== '' && lid !== contactId ? this.#kept.get(lid) : undefined;
    const before = this.#kept.get(contactId) ?? { contactId, lid: '', name: '', pushName: '' };
    const after: Contact = {
      contactId,
      lid: lid === contactId ? before.lid : lid || before.lid,
      name: patch.contactName === undefined ? before.name : keyText(patch.contactName),
      pushName: patch.pushName || before.pushName || (twin?.pushName ?? ''),
    };
    if (twin) this.#drop(twin.contactId);
    const isSame = before.lid === after.lid && before.name === after.name && before.pushName === after.pushName;
    const isNobody = after.name === '' && after.pushName === '' && !this.#kept.has(contactId);
    if (isSame || isNobody) return false;
    this.#kept.set(contactId, after);
    this.#changed.set(contactId, after);
    this.#gone.delete(contactId);
    return before.name !== after.name;
  }

  /** Merges the contact under the LID of a person into the contact under the number. */
  merge({ chatId, chatLid }: PersonPair): void {
    const twin = this.#kept.get(chatLid);
    if (twin === undefined) return;
    const kept = this.#kept.get(chatId);
    const name = kept?.name || twin.name;
    const contact: Contact = { contactId: chatId, lid: chatLid, name, pushName: kept?.pushName || twin.pushName };
    this.#drop(twin.contactId);
    this.#kept.set(chatId, contact);
    this.#changed.set(chatId, contact);
    this.#gone.delete(chatId);
  }

  outcome(): ContactOutcome {
    return { contacts: [...this.#changed.values()], goneContacts: [...this.#gone] };
  }

  #drop(contactId: string): void {
    this.#kept.delete(contactId);
    this.#changed.delete(contactId);
    this.#gone.add(contactId);
  }
}

// The columns of contacts, and the part of a commit that writes them.

/** A select list whose rows have the type `Contact`. */
export const contactFields = 'contact_id as "contactId", lid, name, push_name as "pushName"';

/** Inserts contacts. The caller adds the clause for conflicts with stored contacts. */
export const newContactRows = (first: number) => {
  const rows = makeRowSet({ contactId: 'text', lid: 'text', name: 'text', pushName: 'text' }, first);
  return { ...rows, sql: `insert into contact (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}` };
};

export const contactRows = (first: number) => {
  const rows = newContactRows(first);
  const sql = `${rows.sql}
    on conflict (instance_id, contact_id) do update set lid = excluded.lid, name = excluded.name, push_name = excluded.push_name`;
  return { ...rows, sql };
};

export const goneContactRows = (first: number) => {
  const rows = makeRowSet({ contactId: 'text' }, first);
  const sql = `delete from contact using ${rows.from}
    where instance_id = $1 and contact.contact_id = any(${rows.array('contactId')}) and contact.contact_id = fresh.contact_id`;
  return { ...rows, sql };
};

// The rules of groups: the changes of one commit are applied in order, and the final rows are written.

type Listed = Extract<Entry, { kind: 'groupsListed' }>;

export interface GroupOutcome {
  /** Groups that are stored with their final values. */
  readonly groups: readonly Group[];
  /** Ids of groups whose rows are deleted. */
  readonly goneGroups: readonly string[];
  /** The last complete list of groups; null without a list. Stored groups that are missing in this list are deleted. */
  readonly groupList: Pick<Listed, 'groupIds' | 'at'> | null;
}

/**
 * Returns the group whose row must be read before the entry is applied; null for none. A complete group needs no read, because its write keeps the stored facts
 * that it lacks.
 */
export const changedGroup = (entry: Entry): string | null => {
  if (entry.kind !== 'news' || entry.news.type !== 'groups') return null;
  const { groupId, change } = entry.news.group;
  return change.kind === 'entered' || change.kind === 'other' ? null : keyText(groupId);
};

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The groups that the entries of one commit change. */
export class GroupLedger {
  /** Groups by id. Null means that the group is deleted. */
  readonly #groups = new Map<string, Group | null>();
  readonly #changed = new Set<string>();
  #list: GroupOutcome['groupList'] = null;

  constructor(known: readonly Group[]) {
    for (const group of known) this.#groups.set(group.id, group);
  }

  apply(entry: Extract<Entry, { kind: 'group' | 'groupGone' | 'groupsListed' }>): void {
    if (entry.kind === 'group') return this.#whole(entry.group);
    if (entry.kind === 'groupsListed') return this.#listed(entry);
    this.#put(keyText(entry.groupId), null);
  }

  #whole(group: Group): void {
    const id = keyText(group.id);
    if (id !== '') this.#put(id, { ...this.#groups.get(id), ...group, id });
  }

  #listed({ groupIds, at }: Listed): void {
    const ids = new Set(groupIds.map(keyText));
    for (const [id, group] of this.#groups) if (group !== null && !ids.has(id)) this.#put(id, null);
    this.#list = { groupIds: [...ids], at };
  }

  /** Applies a change. A partial change of a group that is not stored is dropped. The next complete record of the group contains the change. */
  change(change: GroupChange): void {
    const id = keyText(change.groupId);
    if (change.change.kind === 'entered') return this.#whole(change.change.group);
    const known = this.#groups.get(id);
    if (!known) return;
    const after = groupAfter(known, change);
    if (after === null || !isSame(after, known)) this.#put(id, after);
  }

  outcome(): GroupOutcome {
    const changed = [...this.#changed].map((id) => [id, this.#groups.get(id) ?? null] as const);
    return {
      groups: changed.flatMap(([, group]) => group ?? []),
      goneGroups: changed.flatMap(([id, group]) => (group === null ? [id] : [])),
      groupList: this.#list,
    };
  }

  #put(id: string, group: Group | null): void {
    this.#groups.set(id, group);
    this.#changed.add(id);
  }
}

// The columns of groups, and the part of a commit that writes them.

/** A stored member: id, phone JID, LID and rank (0 member, 1 admin, 2 superadmin). The keys of an object would take half of the row. */
type StoredMember = readonly [id: string, pn: string, lid: string, rank: number];

export interface GroupRow {
  readonly groupId: string;
  readonly facts: GroupFacts;
  readonly members: readonly StoredMember[];
}

/** Select lists whose rows have the type `GroupRow`. */
export const groupFields = 'group_id as "groupId", facts, members';
export const groupFieldsWithoutMembers = `group_id as "groupId", facts, '[]'::jsonb as members`;

const storedMember = ({ id, pn, lid, isAdmin, isSuperAdmin }: GroupMember): StoredMember => [
  id,
  pn,
  lid,
  Number(isAdmin) + Number(isAdmin && isSuperAdmin),
];

const memberOf = ([id, pn, lid, rank]: StoredMember): GroupMember => ({ id, pn, lid, isAdmin: rank > 0, isSuperAdmin: rank > 1 });

const isMember = (member: unknown): member is StoredMember =>
  Array.isArray(member) && member.slice(0, 3).every((address) => typeof address === 'string') && typeof member[3] === 'number';

/** Reads a stored list of members. Damaged items are skipped. The next list from the platform replaces the stored one. */
const membersOf = (stored: unknown): readonly GroupMember[] => (Array.isArray(stored) ? stored.filter(isMember).map(memberOf) : []);

export const groupOfRow = ({ groupId, facts, members }: GroupRow): Group => ({ ...facts, id: groupId, members: membersOf(members) });

/** Returns the values of a group for `groupRows`. */
const rowOfGroup = ({ id, members, ...facts }: Group) => ({
  groupId: id,
  name: facts.subject?.text ?? '',
  facts,
  members: members.map(storedMember),
  addresses: [...new Set(members.flatMap((member) => [member.id, member.pn, member.lid]))].filter((address) => address !== ''),
});

/** Returns SQL for the hashes of addresses, each together with the instance ($1). Two hashes collide by chance in one of 10^19 pairs. */
export const hashesOf = (addresses: string): string =>
  `array(select hashtextextended($1 || ' ' || address, 0) from ${addresses} as address)`;

/** Upserts groups. Absent facts keep their stored values. An unchanged row is not written. */
export const groupRows = (first: number) => {
  const rows = makeRowSet({ groupId: 'text', name: 'text', facts: 'jsonb', members: 'jsonb', addresses: 'text' }, first);
  const hashes = hashesOf('jsonb_array_elements_text(fresh.addresses::jsonb)');
  const merged = 'chat_group.facts || excluded.facts';
  const sql = `insert into chat_group (instance_id, group_id, name, facts, members, member_hashes)
    select $1, ${rows.value('groupId')}, ${rows.value('name')}, ${rows.value('facts')}, ${rows.value('members')}, ${hashes} from ${rows.from}
    on conflict (instance_id, group_id) do update
    set name = excluded.name, facts = ${merged}, members = excluded.members, member_hashes = excluded.member_hashes
    where chat_group.facts is distinct from ${merged} or chat_group.members is distinct from excluded.members`;
  return {
    ...rows,
    sql,
    parameters: (groups: readonly object[]) =>
      rows.parameters((groups as readonly Group[]).map(rowOfGroup).map((row) => ({ ...row, addresses: JSON.stringify(row.addresses) }))),
  };
};

export const goneGroupRows = (first: number) => {
  const rows = makeRowSet({ groupId: 'text' }, first);
  const sql = `delete from chat_group using ${rows.from}
    where instance_id = $1 and chat_group.group_id = any(${rows.array('groupId')}) and chat_group.group_id = fresh.group_id`;
  return { ...rows, sql };
};

/** Deletes the groups that a complete list lacks. */
export const unlistedGroupRows = (first: number) => {
  const rows = makeRowSet({ groupIds: 'text[]' }, first);
  const sql = `delete from chat_group using ${rows.from} where instance_id = $1 and not chat_group.group_id = any(${rows.value('groupIds')})`;
  return { ...rows, sql };
};

export const groupListRows = (first: number) => {
  const rows = makeRowSet({ at: 'bigint' }, first);
  const sql = `insert into group_list (instance_id, at) select $1, ${rows.value('at')} from ${rows.from}
    on conflict (instance_id) do update set at = excluded.at`;
  return { ...rows, sql };
};
