/**
 * The cache of groups of one connection. It has the names of all groups, and the members of recently used groups. Other groups are read from the storage. An
 * unknown group is queried from the platform. Each entry about a group also updates this cache, so a read of a known group needs no query.
 */
import { getBinaryNodeChild, getBinaryNodeChildren, type BinaryNode, type GroupMetadata, type WASocket } from '@whiskeysockets/baileys';
import {
  groupAfter,
  includesPerson,
  type Entry,
  type Group,
  type GroupChange,
  type ParentCommunity,
  type PictureKind,
} from '#actors/model.ts';
import { type KnownGroups, StorageFailure } from '#actors/ports.ts';
import { LruMap } from '#src/base/lru-map.ts';
import type { Directory } from '../wire/jid.ts';
import { GroupUnknown, isAnswer } from '../wire/outcomes.ts';
import { Communities } from './communities.ts';
import type { GroupKeys } from '../keys/group-keys.ts';
import { goneEntries, groupOfNode, wholeEntries } from './from-groups.ts';

/** The stored groups of the account. */
export interface StoredGroups {
  /** Reads the names of all groups, the groups of communities with their pictures, and the time of the last list. */
  known(): Promise<KnownGroups>;
  /** The age of the list of all groups from which a login queries it again. In milliseconds. */
  readonly maxAgeMs: number;
  stored(groupId: string): Promise<Group | null>;
}

interface GroupCacheParts extends StoredGroups {
  sock(): Pick<WASocket, 'query'>;
  directory(): Directory;
  /** Hands entries to the recorder, and then to `GroupCache.apply`. */
  record(entries: readonly Entry[]): void;
  /** Resolves when all entries given to `record` before are stored. */
  recorded(): Promise<unknown>;
  /** Reports that a background request failed. */
  stumbled(where: string, error: unknown): void;
  readonly keys: Pick<GroupKeys, 'apply' | 'listed'>;
}

/** The cache keeps the members of at least this many groups, and of at most twice as many. A group with 1,000 members takes 200 KB. */
const membersKept = 250;
/**
 * The delay of the read of names after a login, because many sessions may log in at once. An event that needs the names reads them at once. In milliseconds.
 */
const readNamesMs = 250;
/** The longest wait for the facts of one group. It is shorter than the deadline of an operation, which needs the facts. In milliseconds. */
const answerMs = 10_000;
/** The largest number of groups of a list that are converted in one turn of the event loop. */
const mostInTurn = 25;

interface Kept {
  readonly group: Group;
  /** The group in the library's form, which is built at its first use. */
  metadata?: GroupMetadata;
}

/** Changes of groups during a query or a read, by group and in order. */
type Meanwhile = Map<string, Entry[]>;

const rankOf = ({ isAdmin, isSuperAdmin }: Group['members'][number]): 'admin' | 'superadmin' | null =>
  isSuperAdmin ? 'superadmin' : isAdmin ? 'admin' : null;

/** Returns the part of a group that the library needs to encrypt a message for it. */
const metadataOf = (group: Group): GroupMetadata => ({
  id: group.id,
  subject: group.subject?.text ?? '',
  owner: group.owner.id,
  addressingMode: (group.addressing ?? 'pn') as NonNullable<GroupMetadata['addressingMode']>,
  ...(group.ephemeral ? { ephemeralDuration: group.ephemeral } : {}),
  participants: group.members.map((member) => ({ id: member.id, admin: rankOf(member) })),
});

const changeIn = (entry: Entry): GroupChange | null => (entry.kind === 'news' && entry.news.type === 'groups' ? entry.news.group : null);

/** Returns the id of the group that an entry concerns; '' for an entry that concerns no group. */
const aboutGroup = (entry: Entry): string => {
  if (entry.kind === 'group') return entry.group.id;
  return entry.kind === 'groupGone' ? entry.groupId : (changeIn(entry)?.groupId ?? '');
};

/** Applies entries to a group. Idempotent: an entry that is applied twice changes nothing. */
const replayed = (group: Group | null, entries: readonly Entry[]): Group | null =>
  entries.reduce<Group | null>((known, entry) => {
    if (entry.kind === 'groupGone') return null;
    if (entry.kind === 'group') return entry.group;
    const change = changeIn(entry);
    if (change === null) return known;
    if (change.change.kind === 'entered') return change.change.group;
    return known && groupAfter(known, change);
  }, group);

export class GroupCache {
  readonly #parts: GroupCacheParts;
  readonly #names = new Map<string, string>();
  /** Null until the names are read. Events of groups wait for this read. */
  #communities: Communities | null = null;
  #readingNames: Promise<void> | null = null;
  /** Entries that were recorded before the names were read. */
  readonly #early: Entry[] = [];
  readonly #kept = new LruMap<Kept>(membersKept);
  readonly #loading = new Map<string, Promise<Group | null>>();
  /** Changes of groups that may not be stored yet. */
  readonly #unstored: Meanwhile = new Map();
  /** Changes of groups that are being read from the storage. The result of the read may lack them. */
  readonly #reading: Meanwhile = new Map();
  #refreshing: Promise<void> | null = null;
  #meanwhile: Meanwhile | null = null;

  constructor(parts: GroupCacheParts) {
    this.#parts = parts;
  }

  /** Returns null if the names are in memory. Otherwise returns a promise of the read, which rejects with `StorageFailure`. */
  unread(): Promise<void> | null {
    if (this.#communities !== null) return null;
    return (this.#readingNames ??= this.#readNames().finally(() => {
      this.#readingNames = null;
    }));
  }

  /** Returns the name of a group; '' for an unknown group. */
  name(jid: string): string {
    return this.#names.get(jid) ?? '';
  }

  /** Returns true if the account is known to be a member of the group. */
  has(jid: string): boolean {
    return this.#names.has(jid);
  }

  /** Returns the known community of a group; null for none. */
  community(jid: string): ParentCommunity | null {
    return this.#communities?.of(jid) ?? null;
  }

  /** Stores the picture of a community. Returns entries for the chats of its subgroups. */
  pictured(jid: string, kind: PictureKind, url: string): readonly Entry[] {
    return this.#communities?.pictured(jid, kind, url) ?? [];
  }

  /**
   * Reads the names after a delay, unless an event needs them before. After the read, queries the list of groups if there is none, or if it is too
   * old. Call this after the login.
   */
  opened(): void {
    const read = (): unknown => this.unread()?.catch((error: unknown) => this.#parts.stumbled('groups', error));
    setTimeout(read, readNamesMs).unref();
  }

  /**
   * Returns a group from memory, the storage or the platform. Returns null if the platform refuses to return it. Rejects with `GroupUnknown` if the platform
   * did not answer, and with `StorageFailure` if the storage is unavailable. Without the storage nobody knows who is a member.
   */
  get(jid: string): Promise<Group | null> {
    const kept = this.#kept.get(jid);
    if (kept !== undefined) return Promise.resolve(kept.group);
    const loading = this.#loading.get(jid);
    if (loading !== undefined) return loading;
    const load = this.#load(jid)
      .catch((error: unknown) => {
        if (error instanceof StorageFailure) throw error;
        this.#parts.stumbled('group', error);
        if (isAnswer(error)) return null;
        throw new GroupUnknown();
      })
      .finally(() => this.#loading.delete(jid));
    this.#loading.set(jid, load);
    return load;
  }

  /** Returns a group like `get`, but null where `get` rejects. For callers that need the group only to complete their answer. */
  async getIfReadable(jid: string): Promise<Group | null> {
    try {
      return await this.get(jid);
    } catch (error) {
      // A query without an answer was reported when it failed.
      if (!(error instanceof GroupUnknown)) this.#parts.stumbled('group', error);
      return null;
    }
  }

  /** Returns a group in the library's form. Without a group, the library queries the platform. */
  async metadata(jid: string): Promise<GroupMetadata | undefined> {
    const group = await this.getIfReadable(jid);
    if (group === null) return undefined;
    const kept = this.#kept.get(jid) ?? { group };
    return (kept.metadata ??= metadataOf(kept.group));
  }

  /** Queries one group from the platform, and records it if the account is a member. Rejects with the library's errors. */
  async fetch(jid: string): Promise<Group> {
    const answer = await this.#ask(jid, { tag: 'query', attrs: { request: 'interactive' } }, answerMs);
    const node = getBinaryNodeChild(answer, 'group');
    if (node === undefined) throw new Error('the platform answered without a group');
    const group = groupOfNode(node, this.#parts.directory());
    const { me } = this.#parts.directory();
    if (includesPerson(group.members, { id: '', ...me })) this.#parts.record(wholeEntries(group, this.#parts.directory()));
    return group;
  }

  /** Queries all groups from the platform in one request, and records them. Concurrent calls share the request. Rejects with the library's errors. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
      this.#meanwhile = null;
    });
    return this.#refreshing;
  }

  /** Applies entries. The caller must pass all entries that it gives to the recorder. */
  apply(entries: readonly Entry[]): void {
    if (this.#communities === null) {
      for (const entry of entries) this.#early.push(entry);
      return;
    }
    for (const entry of entries) {
      const id = aboutGroup(entry);
      if (id !== '') this.#apply(id, entry);
    }
    const told = this.#communities.apply(entries);
    if (told.length > 0) this.#parts.record(told);
  }

  #apply(id: string, entry: Entry): void {
    const meanwhile = this.#meanwhile?.get(id);
    if (meanwhile) meanwhile.push(entry);
    else this.#meanwhile?.set(id, [entry]);
    this.#name(id, entry);
    this.#parts.keys.apply(id, entry);
    // The group may leave memory before the change is stored. A later read from the storage then applies the change again.
    this.#waitForStorage(id, entry);
    const after = replayed(this.#kept.get(id)?.group ?? null, [entry]);
    if (after === null) this.#kept.delete(id);
    else this.#kept.set(id, { group: after });
  }

  #name(id: string, entry: Entry): void {
    const change = changeIn(entry)?.change;
    const facts = entry.kind === 'group' ? entry.group : change?.kind === 'entered' ? change.group : null;
    if (facts !== null) this.#names.set(id, facts.subject?.text ?? '');
    else if (entry.kind === 'groupGone' || change?.kind === 'deleted') this.#names.delete(id);
    else if (change?.kind === 'settings' && change.settings.subject && this.#names.has(id))
      this.#names.set(id, change.settings.subject.text);
    else if (change?.kind === 'members' && change.action === 'join' && !this.#names.has(id)) this.#missed(id, change.people);
  }

  /** Queries an unknown group if the account is among the people that joined. The platform then reported only the new members, and not the group. */
  #missed(id: string, people: Parameters<typeof includesPerson>[0]): void {
    const { pn, lid } = this.#parts.directory().me;
    if (includesPerson(people, { id: '', pn, lid })) void this.getIfReadable(id);
  }

  #waitForStorage(id: string, entry: Entry): void {
    this.#reading.get(id)?.push(entry);
    const waiting = this.#unstored.get(id) ?? [];
    waiting.push(entry);
    this.#unstored.set(id, waiting);
    void this.#parts.recorded().then(() => {
      waiting.splice(waiting.indexOf(entry), 1);
      if (waiting.length === 0) this.#unstored.delete(id);
    });
  }

  async #readNames(): Promise<void> {
    const known = await this.#parts.known();
    const { maxAgeMs, directory } = this.#parts;
    for (const [id, name] of known.names) this.#names.set(id, name);
    this.#communities = new Communities(known, (id) => this.name(id));
    this.apply(this.#early.splice(0));
    if (known.listedAt === null || directory().now() - known.listedAt > maxAgeMs) this.#refreshBehind();
  }

  async #load(jid: string): Promise<Group | null> {
    const names = this.unread();
    if (names !== null) await names;
    // An open query of the list probably returns this group. A request for each group would be a burst, which the platform refuses with 429.
    if (this.#refreshing !== null && !this.#names.has(jid)) await this.#refreshing.catch(() => undefined);
    // The result of the read may lack changes that are being stored.
    const since = [...(this.#unstored.get(jid) ?? [])];
    this.#reading.set(jid, since);
    let group: Group | null;
    try {
      group = replayed(this.#names.has(jid) ? await this.#parts.stored(jid) : null, since);
    } finally {
      this.#reading.delete(jid);
    }
    const kept = this.#kept.get(jid);
    if (kept !== undefined) return kept.group;
    if (group === null) return this.fetch(jid);
    this.#kept.set(jid, { group });
    return group;
  }

  /** `timeoutMs`: undefined for the library's time-out. */
  #ask(to: string, content: BinaryNode, timeoutMs?: number): Promise<BinaryNode> {
    return this.#parts.sock().query({ tag: 'iq', attrs: { to, xmlns: 'w:g2', type: 'get' }, content: [content] }, timeoutMs);
  }

  #refreshBehind(): void {
    this.refresh().catch((error: unknown) => this.#parts.stumbled('groups', error));
  }

  async #refresh(): Promise<void> {
    const names = this.unread();
    if (names !== null) await names;
    const meanwhile: Meanwhile = new Map();
    this.#meanwhile = meanwhile;
    const wanted = ['participants', 'description'].map((tag) => ({ tag, attrs: {} }));
    const answer = await this.#ask('@g.us', { tag: 'participating', attrs: {}, content: wanted });
    const list = getBinaryNodeChild(answer, 'groups');
    const nodes = list === undefined ? [] : getBinaryNodeChildren(list, 'group');
    const listed = new Set<string>();
    for (let from = 0; from < nodes.length; from += mostInTurn) {
      this.#recordListed(nodes.slice(from, from + mostInTurn), meanwhile, listed);
      await new Promise(setImmediate);
    }
    for (const [id, entries] of meanwhile) if (replayed(null, entries) !== null) listed.add(id);
    this.#parts.keys.listed(listed, new Set(this.#names.keys()));
    const gone = [...this.#names.keys()].filter((id) => !listed.has(id));
    const at = this.#parts.directory().now();
    this.#parts.record([...gone.flatMap(goneEntries), { kind: 'groupsListed', groupIds: [...listed], at }]);
    await this.#parts.recorded();
  }

  #recordListed(nodes: readonly BinaryNode[], meanwhile: Meanwhile, listed: Set<string>): void {
    const { directory, record } = this.#parts;
    for (const node of nodes) {
      const answered = groupOfNode(node, directory());
      const group = replayed(answered, meanwhile.get(answered.id) ?? []);
      if (group === null) continue;
      listed.add(group.id);
      record(wholeEntries(group, directory()));
    }
  }
}
