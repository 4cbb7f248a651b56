/** Storage in memory, with a switch that makes it unavailable. */
import type {
  LookedPicture,
  Chat,
  Claim,
  Contact,
  Definition,
  DefinitionKind,
  Definitions,
  Delivery,
  Group,
  InstancePatch,
  InstanceRecord,
  LastAttempt,
  Message,
  OptOut,
  Receipt,
  UsedSendKey,
  Webhook,
} from '#actors/model.ts';
import {
  EpochLost,
  StorageUnavailable,
  type ClaimedRow,
  type DefinitionStore,
  type Ended,
  type GroupQuery,
  type GroupStore,
  type InstanceStore,
  type OutboxStore,
  type Removal,
  type RemovalStore,
  type SendKeyStore,
  type StoredRecipient,
  type SettingStore,
  type WebhookStore,
} from '#actors/ports.ts';
import type { DefinitionOutcome } from '#src/storage/journal/definitions.ts';
import type { GroupOutcome } from '#src/storage/journal/people.ts';
import { type CampaignRow, type ChatRow, deliveryOf, type MessageRow } from './records.ts';

/** The rows that all stores share. A statement runs in a later microtask, and fails while the storage is unavailable. */
export class FakeDatabase {
  away = false;
  /** Names of the attempted statements, in order. */
  readonly statements: string[] = [];
  readonly instances = new Map<string, InstanceRecord>();
  readonly webhooks = new Map<string, Webhook>();
  readonly messages = new Map<string, MessageRow>();
  readonly chats = new Map<string, ChatRow>();
  /** Contacts by instance and id. */
  readonly contacts = new Map<string, Contact>();
  /** Definitions by instance, kind and id. */
  readonly definitions = new Map<
    string,
    Definition & { readonly instanceId: string; readonly created: number; readonly updated: number }
  >();
  readonly outbox = new Map<number, Delivery & Partial<LastAttempt>>();
  readonly archive: (Delivery & Ended)[] = [];
  readonly settings = new Map<string, string>();
  /** Send keys by instance and hash. */
  readonly sendKeys = new Map<string, UsedSendKey>();
  readonly receipts = new Map<string, Receipt>();
  /** Lookups by instance and form of the number. */
  readonly lookups = new Map<string, StoredRecipient>();
  readonly pictures = new Map<string, LookedPicture>();
  /** Groups by instance and id. */
  readonly groups = new Map<string, Group>();
  /** Campaigns by instance and id. */
  readonly campaigns = new Map<string, CampaignRow>();
  /** Opt-outs by instance and chat. */
  readonly optOuts = new Map<string, OptOut>();
  /** Times at which all groups were listed, by instance. */
  readonly groupLists = new Map<string, number>();
  /** Removed instances and webhooks with remaining rows. */
  removals: readonly Removal[] = [];
  /** Promises that delay answers, by the name of the statement. The statement runs first, and its answer waits for the promise. */
  readonly holds = new Map<string, Promise<void>>();
  /** Names of statements whose next answer is lost. The statement runs, and its caller gets a failure. */
  readonly losses = new Set<string>();

  async run<T>(name: string, statement: () => T): Promise<T> {
    this.statements.push(name);
    await Promise.resolve();
    if (this.away) throw new StorageUnavailable('the database is away');
    const answer = statement();
    if (this.losses.delete(name)) throw new StorageUnavailable('the answer was lost');
    await this.holds.get(name);
    return answer;
  }

  definitionsOf(instance: string): Definition[] {
    return [...this.definitions.values()]
      .filter(({ instanceId }) => instanceId === instance)
      .map(({ of, value }) => ({ of, value }) as Definition);
  }

  putDefinitions(instanceId: string, { definitions, goneDefinitions, goneLabels }: DefinitionOutcome, at: number): void {
    const keyOf = ({ of, value }: Definition): string => [instanceId, of, value.id].join(' ');
    for (const one of definitions)
      this.definitions.set(keyOf(one), { ...one, instanceId, created: this.definitions.get(keyOf(one))?.created ?? at, updated: at });
    for (const one of goneDefinitions) this.definitions.delete(keyOf(one));
    for (const [key, chat] of this.chats)
      if (chat.instanceId === instanceId)
        this.chats.set(key, { ...chat, labels: chat.labels.filter((label) => !goneLabels.includes(label)) });
  }

  groupsOf(instance: string): Group[] {
    return [...this.groups].flatMap(([key, group]) => (key.startsWith(`${instance} `) ? [group] : []));
  }

  putGroups(instance: string, { groups, goneGroups, groupList }: GroupOutcome): void {
    for (const group of groups) this.groups.set(`${instance} ${group.id}`, { ...this.groups.get(`${instance} ${group.id}`), ...group });
    for (const id of goneGroups) this.groups.delete(`${instance} ${id}`);
    if (groupList === null) return;
    for (const { id } of this.groupsOf(instance)) if (!groupList.groupIds.includes(id)) this.groups.delete(`${instance} ${id}`);
    this.groupLists.set(instance, groupList.at);
  }

  /** Returns true if the instance exists. Throws if it has another epoch. */
  claim({ instanceId, epoch }: Claim): boolean {
    const record = this.instances.get(instanceId);
    if (record && record.epoch !== epoch) throw new EpochLost(`epoch ${epoch}`);
    return record !== undefined;
  }

  /** Stores a message under the key of its table: instance, message id and chat. */
  putMessage(row: Message & Pick<MessageRow, 'instanceId'> & Partial<MessageRow>): void {
    this.messages.set([row.instanceId, row.messageId, row.chatId].join(' '), { unread: false, deletedAt: 0, ...row });
  }

  putChat(row: ChatRow): void {
    this.chats.set([row.instanceId, row.chatId].join(' '), row);
  }

  expireMessages(before: number, limit: number): number {
    const old = [...this.messages].filter(([, { timestamp, status }]) => timestamp < before && status !== 'Queued').slice(0, limit);
    for (const [key] of old) this.messages.delete(key);
    return old.length;
  }

  messagesOf(instance: string): readonly MessageRow[] {
    return [...this.messages.values()].filter(({ instanceId }) => instanceId === instance);
  }

  /** Returns the chats of an instance without the field `instanceId`, which the answers of the store do not have. */
  chatsOf(instance: string): readonly Chat[] {
    return [...this.chats.values()].filter(({ instanceId }) => instanceId === instance).map(({ instanceId: _of, ...chat }) => chat);
  }

  /** Finds a message by its platform id. */
  message(instance: string, id: string): Message | undefined {
    return this.messagesOf(instance).find(({ messageId }) => messageId === id);
  }

  count(name: string): number {
    return this.statements.filter((statement) => statement === name).length;
  }
}

export class FakeInstances implements InstanceStore {
  readonly #db: FakeDatabase;
  readonly #now: () => number;
  constructor(db: FakeDatabase, now: () => number) {
    this.#db = db;
    this.#now = now;
  }
  all = () =>
    this.#db.run('instances.all', () =>
      [...this.#db.instances.values()].toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1)),
    );
  some = (ids: readonly string[]) => this.#db.run('instances.some', () => ids.flatMap((id) => this.#db.instances.get(id) ?? []));
  byToken = (token: string) =>
    this.#db.run('instances.byToken', () => [...this.#db.instances.values()].find((record) => record.token === token) ?? null);
  insert = (record: InstanceRecord) =>
    this.#db.run('instances.insert', () => {
      const { instances } = this.#db;
      if ([...instances.values()].some(({ id, token }) => id === record.id || token === record.token)) throw new Error('duplicate key');
      instances.set(record.id, record);
    });
  update = (id: string, epoch: number, patch: InstancePatch) =>
    this.#db.run('instances.update', () => {
      this.#db.claim({ instanceId: id, epoch });
      const record = this.#db.instances.get(id);
      if (record) this.#db.instances.set(id, { ...record, ...patch, updated: this.#now() });
      return record !== undefined;
    });
  remove = (id: string, epoch: number) =>
    this.#db.run('instances.remove', () => {
      this.#db.claim({ instanceId: id, epoch });
      if (!this.#db.instances.delete(id)) return;
      const own = [...this.#db.webhooks.values()].filter((webhook) => webhook.instanceId === id);
      for (const webhook of own) this.#db.webhooks.delete(webhook.id);
      const webhooks = own.map((webhook) => ({ kind: 'webhook', id: webhook.id }) as const);
      this.#db.removals = [...this.#db.removals, ...webhooks, { kind: 'instance', id }];
    });
}

export class FakeWebhooks implements WebhookStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  all = () => this.#db.run('webhooks.all', () => [...this.#db.webhooks.values()]);
  some = (ids: readonly string[]) => this.#db.run('webhooks.some', () => ids.flatMap((id) => this.#db.webhooks.get(id) ?? []));
  save = (webhook: Webhook, epoch: number) =>
    this.#db.run('webhooks.save', () => {
      if (webhook.instanceId !== null) this.#db.claim({ instanceId: webhook.instanceId, epoch });
      this.#db.webhooks.set(webhook.id, webhook);
    });
  disable = ({ id, instanceId, url }: Pick<Webhook, 'id' | 'instanceId' | 'url'>, epoch: number) =>
    this.#db.run('webhooks.disable', () => {
      if (instanceId !== null) this.#db.claim({ instanceId, epoch });
      const known = this.#db.webhooks.get(id);
      if (known?.url === url) this.#db.webhooks.set(id, { ...known, enabled: false });
    });
  remove = ({ id, instanceId }: Pick<Webhook, 'id' | 'instanceId'>, epoch: number) =>
    this.#db.run('webhooks.remove', () => {
      if (instanceId !== null) this.#db.claim({ instanceId, epoch });
      if (this.#db.webhooks.delete(id)) this.#db.removals = [...this.#db.removals, { kind: 'webhook', id }];
    });
}

export class FakeRemovals implements RemovalStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  pending = () => this.#db.run('removals.pending', () => this.#db.removals);
  /** Removes one row, because a batch of this fake has one row. */
  removePiece = ({ kind, id }: Removal) =>
    this.#db.run('removals.removePiece', () => {
      const { messages, outbox, archive } = this.#db;
      const isOf = (row: { readonly instanceId: string; readonly webhookId?: string }): boolean =>
        (kind === 'instance' ? row.instanceId : row.webhookId) === id;
      for (const [key, row] of messages) if (isOf(row)) return messages.delete(key);
      for (const [key, row] of outbox) if (isOf(row)) return outbox.delete(key);
      const past = archive.findIndex(isOf);
      if (past >= 0) return archive.splice(past, 1).length > 0;
      this.#db.removals = this.#db.removals.filter((removal) => removal.id !== id);
      return false;
    });
  rewind = (): void => undefined;
}

export class FakeOutbox implements OutboxStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  #of(webhookId: string, instanceId: string): Delivery[] {
    return [...this.#db.outbox.values()].filter((row) => row.webhookId === webhookId && row.instanceId === instanceId);
  }
  due = (webhookId: string, instanceId: string, now: number, most: { readonly rows: number; readonly bytes: number }) =>
    this.#db.run('outbox.due', () => {
      const mine = this.#of(webhookId, instanceId);
      const all = mine.filter((row) => row.notBefore <= now).sort((a, b) => a.seq - b.seq);
      let bytes = 0;
      const over = all.findIndex((row, n) => n === most.rows || ((bytes += Buffer.byteLength(row.body)) > most.bytes && n > 0));
      const page = over < 0 ? all : all.slice(0, over);
      const until = ({ lane, seq }: Delivery): number =>
        Math.max(0, ...mine.filter((row) => row.lane === lane && row.seq < seq && row.notBefore > now).map(({ notBefore }) => notBefore));
      return {
        rows: page.filter((row) => until(row) === 0).map(deliveryOf),
        held: page.filter((row) => until(row) > 0).map((row) => ({ seq: row.seq, lane: row.lane, until: until(row) })),
        more: over >= 0,
      };
    });
  hold = (rows: readonly (ClaimedRow & { readonly until: number })[]) =>
    this.#db.run('outbox.hold', () => {
      for (const { seq, until, ...claim } of rows) {
        this.#db.claim(claim);
        const row = this.#db.outbox.get(seq);
        if (row) this.#db.outbox.set(seq, { ...row, notBefore: until });
      }
    });
  heldLanes = (webhookId: string, instanceId: string, now: number, limit: number) =>
    this.#db.run('outbox.heldLanes', () => {
      const parked = this.#of(webhookId, instanceId).filter(({ notBefore }) => notBefore > now);
      return [...new Set(parked.map(({ lane }) => lane))].slice(0, limit);
    });
  nextDue = (webhookId: string, instanceId: string) =>
    this.#db.run('outbox.nextDue', () => {
      const parked = this.#of(webhookId, instanceId).filter((row) => row.notBefore > 0);
      return parked.length === 0 ? null : Math.min(...parked.map((row) => row.notBefore));
    });
  remove = (rows: readonly ClaimedRow[]) =>
    this.#db.run('outbox.remove', () => {
      for (const row of rows) {
        this.#db.claim(row);
        this.#db.outbox.delete(row.seq);
      }
    });
  archive = (ended: readonly (Ended & Claim)[]) =>
    this.#db.run('outbox.archive', () => {
      for (const end of ended) {
        this.#db.claim(end);
        const row = this.#db.outbox.get(end.seq);
        if (row) this.#db.archive.push({ ...row, ...end });
        this.#db.outbox.delete(end.seq);
      }
    });
  postpone = ({ seq, ...claim }: ClaimedRow, notBefore: number, last: LastAttempt) =>
    this.#db.run('outbox.postpone', () => {
      this.#db.claim(claim);
      const row = this.#db.outbox.get(seq);
      if (row) this.#db.outbox.set(seq, { ...row, ...last, notBefore });
    });
  pending = () =>
    this.#db.run('outbox.pending', () => {
      const pairs = new Map<string, { webhookId: string; instanceId: string }>();
      for (const { webhookId, instanceId } of this.#db.outbox.values())
        if (this.#db.webhooks.has(webhookId)) pairs.set(`${webhookId} ${instanceId}`, { webhookId, instanceId });
      return [...pairs.values()];
    });
}

export class FakeSettings implements SettingStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  get = (name: string) => this.#db.run('settings.get', () => this.#db.settings.get(name) ?? null);
  set = (name: string, value: string) => this.#db.run('settings.set', () => void this.#db.settings.set(name, value));
  swap = (name: string, before: string | null, value: string) =>
    this.#db.run('settings.swap', () => {
      const isCurrent = (this.#db.settings.get(name) ?? null) === before;
      if (isCurrent) this.#db.settings.set(name, value);
      return isCurrent;
    });
}

export class FakeSendKeys implements SendKeyStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  find = (instance: string, hash: string) => this.#db.run('sendKeys.find', () => this.#db.sendKeys.get(`${instance} ${hash}`) ?? null);
  expire = (before: number, limit: number) =>
    this.#db.run('sendKeys.expire', () => {
      const old = [...this.#db.sendKeys].filter(([, { at }]) => at < before).slice(0, limit);
      for (const [key] of old) this.#db.sendKeys.delete(key);
      return old.length;
    });
}

export class FakeDefinitions implements DefinitionStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  all = <K extends DefinitionKind>(instance: string, wanted: K) =>
    this.#db.run('definitions.all', () =>
      [...this.#db.definitions.values()]
        .filter(({ instanceId, of }) => instanceId === instance && of === wanted)
        .toSorted((a, b) => a.created - b.created || (a.value.id < b.value.id ? -1 : 1))
        .map(({ value, created, updated }) => ({ ...(value as Definitions[K]), created, updated })),
    );
}

export class FakeGroups implements GroupStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  find = (instance: string, { search, members, limit, offset }: GroupQuery) =>
    this.#db.run('groups.find', () => {
      const text = search.toLowerCase();
      const all = this.#named(instance).filter(({ id, name }) => id === search || name.toLowerCase().includes(text));
      const groups = all.slice(offset, offset + limit).map(({ group }) => (members ? group : { ...group, members: [] }));
      return { groups, total: all.length };
    });
  get = (instance: string, groupId: string) => this.#db.run('groups.get', () => this.#db.groups.get(`${instance} ${groupId}`) ?? null);
  common = (instance: string, addresses: readonly string[]) =>
    this.#db.run('groups.common', () =>
      this.#named(instance)
        .filter(({ group }) => group.members.some(({ id, pn, lid }) => [id, pn, lid].some((one) => addresses.includes(one))))
        .map(({ id, name }) => ({ id, name })),
    );
  listedAt = (instance: string) => this.#db.run('groups.listedAt', () => this.#db.groupLists.get(instance) || null);
  known = (instance: string) =>
    this.#db.run('groups.known', () => ({
      listedAt: this.#db.groupLists.get(instance) || null,
      names: new Map(this.#named(instance).map(({ id, name }) => [id, name])),
      memberships: this.#named(instance).flatMap(({ id, group }) =>
        group.parent ? [{ id, parent: group.parent, isDefault: group.isDefaultSubgroup ?? false }] : [],
      ),
      pictures: [],
    }));

  #named(instance: string): readonly { readonly id: string; readonly name: string; readonly group: Group }[] {
    const groups = this.#db.groupsOf(instance).map((group) => ({ id: group.id, name: group.subject?.text ?? '', group }));
    return groups.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }
}
