/** Groups: their members, ranks and settings, and the notifications of changes. */
import { jidOf, toldPn, type Addressing } from './address.ts';
import { communityNodes, viewCommunity, type CommunityFields } from './community-shape.ts';
import { SandboxError, type Digits, type GroupView } from './interface.ts';
import type { Connections } from './connections.ts';
import { node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { People, Person, Picture } from './people.ts';
import type { Random } from './random.ts';
import type { Records } from './store/database.ts';
import type { KeyStore } from './store/keys.ts';

type Rank = 'admin' | 'superadmin' | null;

export interface Group extends CommunityFields {
  readonly jid: string;
  readonly creator: Digits;
  readonly createdAt: number;
  readonly addressing: Addressing;
  subject: string;
  subjectBy: Digits;
  subjectAt: number;
  description: { readonly id: string; readonly text: string; readonly by: Digits; readonly at: number } | undefined;
  announce: boolean;
  locked: boolean;
  picture?: Picture | undefined;
  /** The time after which messages disappear, in seconds; 0 if they stay. */
  ephemeral: number;
  /** True if only admins may add people. */
  adminAdd: boolean;
  approval: boolean;
  invite: string;
  members: { readonly number: Digits; rank: Rank }[];
  /** Codes of former invite links, newest first. */
  oldInvites?: readonly string[];
  /** People who asked to join, oldest first. `at`: Unix time in milliseconds. */
  requests?: readonly { readonly number: Digits; readonly at: number; readonly method: string }[];
  /** Invitations for people who could not be added. `expiration`: in Unix seconds. */
  invited?: readonly { readonly number: Digits; readonly code: string; readonly expiration: number; readonly by: Digits }[];
  /** Times at which people left, in Unix milliseconds. */
  left?: Record<Digits, number>;
  /** Members whom an admin removed. They may not rejoin by the invite link. */
  removed?: readonly Digits[];
}

const maxGroups = 20_000;
export const maxMembers = 1024;
/** Largest number of stored codes of former invite links. */
const maxOldInvites = 50;
const maxSubject = 100;

export class Groups {
  readonly #groups = new Map<string, Group>();
  readonly #records: Records;
  readonly #people: People;
  readonly #connections: Connections;
  readonly #keys: KeyStore;
  readonly #random: Random;

  constructor(records: Records, people: People, connections: Connections, keys: KeyStore, random: Random) {
    this.#records = records;
    this.#people = people;
    this.#connections = connections;
    this.#keys = keys;
    this.#random = random;
    for (const group of records.all<Group>('group')) this.#groups.set(group.jid, group);
  }

  all(): Group[] {
    return [...this.#groups.values()];
  }

  find(jid: string): Group | undefined {
    return this.#groups.get(jid);
  }

  get(jid: string): Group {
    const group = this.#groups.get(jid);
    if (!group) throw new SandboxError(404, 'item-not-found');
    return group;
  }

  byInvite(code: string): Group {
    const group = this.all().find(({ invite }) => invite === code);
    if (group) return group;
    const former = this.all().some(({ oldInvites }) => oldInvites?.includes(code));
    throw former ? new SandboxError(410, 'gone') : new SandboxError(404, 'item-not-found');
  }

  of(number: Digits): Group[] {
    return this.all().filter((group) => rankOf(group, number) !== undefined);
  }

  /** Makes a group. `more` overrides the default fields of the new group. */
  create(subject: string, creator: Person, others: readonly Person[], addressing: Addressing, more: Partial<Group> = {}): Group {
    if (this.#groups.size >= maxGroups) throw new SandboxError(507, 'too many groups');
    const members = [...new Set(others.filter((one) => one !== creator))];
    if (members.length >= maxMembers) throw new SandboxError(400, 'too many participants');
    const now = Date.now();
    const group: Group = {
      jid: `120363${this.#random.bytes(6).readUIntBE(0, 6).toString().padStart(12, '0').slice(-12)}@g.us`,
      creator: creator.number,
      createdAt: now,
      addressing,
      subject: checkSubject(subject),
      subjectBy: creator.number,
      subjectAt: now,
      description: undefined,
      announce: false,
      locked: false,
      ephemeral: 0,
      adminAdd: false,
      approval: false,
      invite: this.#random.bytes(12).toString('base64url'),
      members: [{ number: creator.number, rank: 'superadmin' }, ...members.map((one) => ({ number: one.number, rank: null }))],
      ...more,
    };
    this.#groups.set(group.jid, group);
    this.save(group);
    for (const { number } of group.members) this.#notify(group, creator, number, this.#createNode(group));
    return group;
  }

  /** Adds people who are not members yet, and returns them. New members are notified of the whole group, and earlier members only of the added people. */
  add(group: Group, by: Person, people: readonly Person[]): Person[] {
    const added = [...new Set(people)].filter((one) => rankOf(group, one.number) === undefined);
    if (group.members.length + added.length > maxMembers) throw new SandboxError(400, 'too many participants');
    if (added.length === 0) return added;
    const before = [...group.members];
    group.members.push(...added.map((one) => ({ number: one.number, rank: null })));
    forget(group, added);
    this.save(group);
    const news = node('add', {}, this.#participants(group, added));
    for (const { number } of before) this.#notify(group, by, number, news);
    for (const one of added) this.#notify(group, by, one.number, this.#createNode(group));
    return added;
  }

  /** Removes members, and returns them. A removed member's devices get the notification of the removal as their last stanza of the group. */
  remove(group: Group, by: Person, people: readonly Person[]): Person[] {
    const removed = people.filter((one) => rankOf(group, one.number) !== undefined);
    if (removed.length === 0) return removed;
    const before = [...group.members];
    const gone = new Set(removed.map((one) => one.number));
    const news = node('remove', {}, this.#participants(group, removed));
    group.members = group.members.filter(({ number }) => !gone.has(number));
    for (const one of removed) {
      if (one === by) group.left = { ...group.left, [one.number]: Date.now() };
      else group.removed = [...(group.removed ?? []), one.number];
    }
    this.save(group);
    for (const { number } of before) {
      this.#notify(group, by, number, news);
      this.#keys.forgetSenderKey(number, this.#people.ensure(number).lid, group.jid);
    }
    return removed;
  }

  rank(group: Group, by: Person, people: readonly Person[], rank: Rank): Person[] {
    const changed = people.filter((one) => rankOf(group, one.number) !== undefined && rankOf(group, one.number) !== 'superadmin');
    for (const member of group.members) if (changed.some((one) => one.number === member.number)) member.rank = rank;
    if (changed.length > 0) this.announceChange(group, by, node(rank ? 'promote' : 'demote', {}, this.#participants(group, changed)));
    return changed;
  }

  setSubject(group: Group, by: Person, subject: string): void {
    Object.assign(group, { subject: checkSubject(subject), subjectBy: by.number, subjectAt: Date.now() });
    const attrs = { subject: group.subject, s_t: unixSeconds(group.subjectAt), s_o: jidOf(by, group.addressing) };
    this.announceChange(group, by, node('subject', attrs));
  }

  setDescription(group: Group, by: Person, text: string, id = this.#random.messageId()): void {
    if (text.length > 2048) throw new SandboxError(400, 'description: too long');
    group.description = text === '' ? undefined : { id, text, by: by.number, at: Date.now() };
    this.announceChange(group, by, text === '' ? node('description', { delete: 'true' }) : this.#descriptionNode(group));
  }

  /** Replaces the invite link. The old link becomes invalid. */
  renewInvite(group: Group, by: Person): void {
    group.oldInvites = [group.invite, ...(group.oldInvites ?? [])].slice(0, maxOldInvites);
    group.invite = this.#random.bytes(12).toString('base64url');
    this.announceChange(group, by, node('invite', { code: group.invite }));
  }

  /** Saves the group and notifies its admins. */
  tellAdmins(group: Group, by: Person, news: BinaryNode): void {
    this.save(group);
    for (const { number, rank } of group.members) if (rank !== null) this.#notify(group, by, number, news);
  }

  /** Saves the group and notifies all members. */
  announceChange(group: Group, by: Person, news: BinaryNode, type = 'w:gp2'): void {
    this.save(group);
    for (const { number } of group.members) this.#notify(group, by, number, news, type);
  }

  save(group: Group): void {
    this.#records.put('group', group.jid, group);
    this.#people.emit({ type: 'group', group: viewGroup(group) });
  }

  /** Makes the node `<group>` for metadata and invitations. */
  groupNode(group: Group): BinaryNode {
    const { addressing } = group;
    const creator = this.#people.ensure(group.creator);
    const subjectBy = this.#people.ensure(group.subjectBy);
    const attrs = {
      id: group.jid.replace('@g.us', ''),
      subject: group.subject,
      s_t: unixSeconds(group.subjectAt),
      s_o: jidOf(subjectBy, addressing),
      ...(addressing === 'lid' ? { s_o_pn: toldPn(subjectBy), creator_pn: toldPn(creator) } : {}),
      creation: unixSeconds(group.createdAt),
      creator: jidOf(creator, addressing),
      addressing_mode: addressing,
      size: String(group.members.length),
    };
    const flags = [
      ...communityNodes(group),
      ...(group.description ? [this.#descriptionNode(group)] : []),
      ...(group.announce ? [node('announcement')] : []),
      ...(group.locked ? [node('locked')] : []),
      ...(group.ephemeral > 0 ? [node('ephemeral', { expiration: String(group.ephemeral) })] : []),
      ...(group.approval ? [node('membership_approval_mode', {}, [node('group_join', { state: 'on' })])] : []),
      node('member_add_mode', {}, Buffer.from(group.adminAdd ? 'admin_add' : 'all_member_add')),
    ];
    const members = group.members.map(({ number }) => this.#people.ensure(number));
    return node('group', attrs, [...flags, ...this.#participants(group, members)]);
  }

  #descriptionNode({ description, addressing }: Group): BinaryNode {
    if (!description) return node('description', { delete: 'true' });
    const by = this.#people.ensure(description.by);
    const pn = addressing === 'lid' ? { participant_pn: toldPn(by) } : {};
    const attrs = { id: description.id, t: unixSeconds(description.at), participant: jidOf(by, addressing), ...pn };
    return node('description', attrs, [node('body', {}, Buffer.from(description.text))]);
  }

  #createNode(group: Group): BinaryNode {
    return node('create', { type: 'new', key: this.#random.id() }, [this.groupNode(group)]);
  }

  #participants({ addressing, members }: Group, people: readonly Person[]): BinaryNode[] {
    return people.map((one) => {
      const rank = members.find(({ number }) => number === one.number)?.rank ?? undefined;
      const other = addressing === 'lid' ? { phone_number: toldPn(one) } : { lid: jidOf(one, 'lid') };
      return node('participant', { jid: jidOf(one, addressing), ...other, type: rank });
    });
  }

  #notify(group: Group, by: Person, number: Digits, news: BinaryNode, type = 'w:gp2'): void {
    const { addressing } = group;
    const attrs = {
      from: group.jid,
      type,
      id: this.#random.id(),
      participant: jidOf(by, addressing),
      ...(addressing === 'lid' ? { participant_pn: toldPn(by) } : { participant_lid: jidOf(by, 'lid') }),
      addressing_mode: addressing,
      t: unixSeconds(Date.now()),
      notify: this.#people.pushName(by) || undefined,
    };
    for (const device of this.#people.devices(number)) this.#connections.deliver(device, node('notification', attrs, [news]));
  }
}

/** Returns the rank of a member; `undefined` for other people. */
export const rankOf = (group: Group, number: Digits): Rank | undefined => group.members.find((one) => one.number === number)?.rank;

/** Removes new members from the lists of requests, invitations, removed people and former members. */
function forget(group: Group, members: readonly Person[]): void {
  const isNew = (number: Digits): boolean => members.some((one) => one.number === number);
  group.requests = (group.requests ?? []).filter(({ number }) => !isNew(number));
  group.invited = (group.invited ?? []).filter(({ number }) => !isNew(number));
  group.removed = (group.removed ?? []).filter((number) => !isNew(number));
  group.left = Object.fromEntries(Object.entries(group.left ?? {}).filter(([number]) => !isNew(number)));
}

export const viewGroup = (group: Group): GroupView => ({
  jid: group.jid,
  subject: group.subject,
  description: group.description?.text ?? '',
  creator: group.creator,
  announce: group.announce,
  locked: group.locked,
  approval: group.approval,
  adminAdd: group.adminAdd,
  ephemeral: group.ephemeral,
  invite: group.invite,
  ...(group.picture ? { picture: group.picture.id } : {}),
  ...viewCommunity(group),
  requests: (group.requests ?? []).map(({ number, at, method }) => ({ number, at, method })),
  invited: (group.invited ?? []).map(({ number, code, expiration }) => ({ number, code, expiration })),
  participants: group.members.map(({ number, rank }) => ({ number, admin: rank })),
});

function checkSubject(subject: string): string {
  if (subject.length === 0 || subject.length > maxSubject) throw new SandboxError(400, `subject: 1 to ${maxSubject} characters`);
  return subject;
}
