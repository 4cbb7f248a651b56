/** The journal in memory. The rows are in maps and follow the rules of the real ledger. Each commit is atomic. */
import type { Claim, Delivery, Entry, GatewayEvent, PersonPair } from '#actors/model.ts';
import type { ArchivedRows, Committed, Journal } from '#actors/ports.ts';
import { reduceEntries } from '#src/storage/journal/ledger.ts';
import type { Erasure } from '#src/storage/journal/message-ledger.ts';
import { type Known, type Outcome, render } from '#src/storage/journal/outcome.ts';
import { ShortIds } from '#src/storage/journal/short-ids.ts';
import { putCampaigns } from './campaigns.ts';
import { contactsOf, putContacts } from './contacts.ts';
import type { FakeDatabase } from './storage.ts';
import type { FakeChance, FakeTime } from './time.ts';

export class FakeJournal implements Journal {
  /** Groups of entries in the order of their commits. */
  readonly groups: (readonly Entry[])[] = [];
  /** Batches of rows from archives, in the order of their import. */
  readonly archived: ArchivedRows[] = [];
  /** Returns true if the storage must always refuse an entry. */
  isBad: (entry: Entry) => boolean = () => false;
  /** Returns a new random short id of a message. */
  nextMessageId: () => string = () => `r${this.#chance.hex(4).slice(0, 7)}`;
  readonly #db: FakeDatabase;
  readonly #time: Pick<FakeTime, 'now'>;
  readonly #chance: FakeChance;
  #seq = 0;

  constructor(db: FakeDatabase, time: Pick<FakeTime, 'now'>, chance: FakeChance) {
    this.#db = db;
    this.#time = time;
    this.#chance = chance;
  }

  forget(): void {
    // This journal has no cache beside the rows.
  }

  addArchived(claim: Claim, rows: ArchivedRows): Promise<number> {
    return this.#db.run('journal.addArchived', () => {
      this.#db.claim(claim);
      this.archived.push(rows);
      return rows.rows.length;
    });
  }

  commit(
    instance: Parameters<Journal['commit']>[0],
    entries: readonly Entry[],
    targets: (event: GatewayEvent) => readonly string[],
    again = false,
  ): Promise<Committed> {
    return this.#db.run('journal.commit', () => {
      const { id, owner, epoch } = instance;
      if (!this.#db.claim({ instanceId: id, epoch })) return { events: [], deliveries: [] };
      if (entries.some((entry) => this.isBad(entry))) throw new Error('value out of range');
      const known = {
        messages: this.#db.messagesOf(id),
        chats: this.#db.chatsOf(id),
        groups: this.#db.groupsOf(id),
        contacts: contactsOf(this.#db, id),
        definitions: this.#db.definitionsOf(id),
      };
      const { ids, outcome } = this.#reduced(known, owner, entries, again);
      const { events, waiting, unrendered } = render(outcome, {
        instanceId: id,
        at: this.#time.now(),
        eventId: () => this.#chance.hex(8),
        targets: (event) => targets(event).filter((webhookId) => this.#db.webhooks.has(webhookId)),
      });
      this.groups.push(entries);
      this.#write(id, outcome);
      const deliveries = waiting.map((row) => this.#deliver(row));
      const renamed = ids.renamed(outcome.freshMessages);
      return { events, deliveries, ...(unrendered.length > 0 ? { unrendered } : {}), ...(renamed.length > 0 ? { renamed } : {}) };
    });
  }

  #reduced(known: Known, owner: string, entries: readonly Entry[], again: boolean): { readonly ids: ShortIds; readonly outcome: Outcome } {
    const ids = new ShortIds(() => this.nextMessageId());
    const taken = new Set(known.messages.map(({ id }) => id));
    for (;;) {
      const outcome = reduceEntries(known, owner, ids.applied(entries), () => `r${this.#chance.hex(7)}`, again);
      const isTaken = outcome.freshMessages.some(({ id }) => taken.has(id));
      ids.redraw(outcome.freshMessages, taken);
      if (!ids.part(outcome.freshMessages) && !isTaken) return { ids, outcome };
    }
  }

  #write(
    instanceId: string,
    {
      freshMessages,
      changedMessages,
      composedMessages,
      revisedMessages,
      chats,
      removedChats,
      readChats,
      erasures,
      merged,
      sendKeys,
      receipts,
      ...others
    }: Outcome,
  ): void {
    for (const pair of merged) this.#merge(instanceId, pair);
    for (const chatId of removedChats) this.#db.chats.delete(`${instanceId} ${chatId}`);
    for (const erasure of erasures) this.#erase(instanceId, erasure);
    for (const message of this.#db.messagesOf(instanceId))
      if (readChats.includes(message.chatId)) this.#db.putMessage({ ...message, unread: false });
    for (const message of [...freshMessages, ...changedMessages, ...composedMessages, ...revisedMessages])
      this.#db.putMessage({ ...message, instanceId });
    for (const receipt of receipts) {
      const key = `${instanceId} ${receipt.messageId} ${receipt.member}`;
      const { deliveredAt = 0, readAt = 0, playedAt = 0 } = this.#db.receipts.get(key) ?? {};
      const first = {
        deliveredAt: deliveredAt || receipt.deliveredAt,
        readAt: readAt || receipt.readAt,
        playedAt: playedAt || receipt.playedAt,
      };
      this.#db.receipts.set(key, { ...receipt, ...first });
    }
    for (const key of sendKeys) this.#db.sendKeys.set(`${instanceId} ${key.hash}`, key);
    for (const { after } of chats) this.#db.putChat({ ...after, instanceId });
    this.#db.putGroups(instanceId, others);
    putContacts(this.#db, instanceId, others);
    putCampaigns(this.#db, instanceId, others);
    this.#db.putDefinitions(instanceId, others, this.#time.now());
  }

  #merge(instanceId: string, { chatId, chatLid }: PersonPair): void {
    const rows = [...this.#db.messages.values()];
    const own = rows.filter((row) => row.instanceId === instanceId && row.chatId === chatId).map(({ messageId }) => messageId);
    this.#db.messages.clear();
    for (const row of rows) {
      const isMoved = row.instanceId === instanceId && row.chatId === chatLid;
      if (!isMoved) this.#db.putMessage(row);
      else if (!own.includes(row.messageId)) this.#db.putMessage({ ...row, chatId, chatLid });
    }
  }

  /** Erases messages of a chat up to `until`. Rows are in order of arrival. In the second that ends at `until`, rows after those in `last` stay. */
  #erase(instanceId: string, { chatId, until, keepStarred, last }: Erasure): void {
    const rows = [...this.#db.messages].filter(([, row]) => row.instanceId === instanceId && row.chatId === chatId);
    const end = rows.findLastIndex(([, { messageId }]) => last.includes(messageId));
    for (const [at, [key, { timestamp, status, starred }]] of rows.entries()) {
      const isBehind = timestamp > until || (timestamp >= until - 999 && end >= 0 && at > end);
      if (!isBehind && status !== 'Queued' && !(keepStarred && starred)) this.#db.messages.delete(key);
    }
  }

  #deliver(waiting: Omit<Delivery, 'seq'>): Delivery {
    const row = { ...waiting, seq: (this.#seq += 1) };
    this.#db.outbox.set(row.seq, row);
    return row;
  }
}
