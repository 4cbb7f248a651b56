/** The journal in memory: entries become rows and events, all or nothing, and the same entries again change nothing. */
import { messageStatuses, type Delivery, type Entry, type GatewayEvent, type Message } from '#actors/model.ts';
import { newsView } from '#src/contract/views.ts';
import type { Committed, Journal } from '#actors/ports.ts';
import type { FakeDatabase } from './storage.ts';
import type { FakeChance, FakeTime } from './time.ts';

type Status = Entry & { readonly kind: 'status' };

export class FakeJournal implements Journal {
  /** Groups as they were committed. */
  readonly groups: (readonly Entry[])[] = [];
  /** An entry that storage can never take. */
  isBad: (entry: Entry) => boolean = () => false;
  readonly #db: FakeDatabase;
  readonly #time: FakeTime;
  readonly #chance: FakeChance;
  #seq = 0;

  constructor(db: FakeDatabase, time: FakeTime, chance: FakeChance) {
    this.#db = db;
    this.#time = time;
    this.#chance = chance;
  }

  commit(
    instance: { readonly id: string; readonly epoch: number },
    entries: readonly Entry[],
    targets: (event: GatewayEvent) => readonly string[],
  ): Promise<Committed> {
    return this.#db.run('journal.commit', () => {
      this.#db.claim({ instanceId: instance.id, epoch: instance.epoch });
      if (entries.some((entry) => this.isBad(entry))) throw new Error('value out of range');
      this.groups.push(entries);
      const events = entries.flatMap((entry) => this.#apply(instance.id, entry));
      return { events, deliveries: events.flatMap((event) => targets(event).map((webhookId) => this.#row(event, webhookId))) };
    });
  }

  #row(event: GatewayEvent, webhookId: string): Delivery {
    const seq = (this.#seq += 1);
    const { instanceId, id: eventId, type, messageType, lane, at, payload } = event;
    const row = {
      seq,
      webhookId,
      instanceId,
      eventId,
      type,
      messageType,
      lane,
      body: JSON.stringify(payload),
      attempts: 0,
      at,
      notBefore: 0,
    };
    this.#db.outbox.set(seq, row);
    return row;
  }

  #event(instanceId: string, type: GatewayEvent['type'], lane: string, payload: GatewayEvent['payload'], message?: Message): GatewayEvent {
    const id = this.#chance.hex(8);
    return { id, instanceId, type, messageType: message?.messageType ?? '', lane, message: message ?? null, at: this.#time.now(), payload };
  }

  #apply(instanceId: string, entry: Entry): readonly GatewayEvent[] {
    switch (entry.kind) {
      case 'message':
      case 'queued':
        return this.#message(instanceId, entry);
      case 'composed':
        this.#db.messages.set(`${instanceId} ${entry.message.messageId}`, { ...entry.message, instanceId, unread: false });
        return [];
      case 'status':
        return entry.messageIds.flatMap((messageId) => this.#status(instanceId, entry, messageId));
      case 'news':
        return [this.#event(instanceId, entry.news.type, entry.lane, newsView(entry.news))];
      case 'event':
        return [this.#event(instanceId, entry.type, entry.lane, entry.payload)];
      case 'deleted':
      case 'chat':
      case 'chatRead':
      case 'chatLabel':
      case 'history':
        return [];
    }
  }

  #message(instanceId: string, entry: Entry & { readonly kind: 'message' | 'queued' }): readonly GatewayEvent[] {
    const { message } = entry;
    const key = `${instanceId} ${message.messageId}`;
    if (this.#db.messages.has(key)) return [];
    this.#db.messages.set(key, { ...message, instanceId, unread: entry.kind === 'message' && entry.unread });
    if (entry.kind === 'queued') return [];
    return [
      this.#event(instanceId, 'messages', message.chatId, { message: { messageid: message.messageId, text: message.text } }, message),
    ];
  }

  #status(instanceId: string, entry: Status, messageId: string): readonly GatewayEvent[] {
    const key = `${instanceId} ${messageId}`;
    const stored = this.#db.messages.get(key);
    if (!stored || messageStatuses.indexOf(stored.status) >= messageStatuses.indexOf(entry.status)) return [];
    if (entry.status === 'Failed' && stored.status !== 'Queued') return [];
    this.#db.messages.set(key, { ...stored, status: entry.status, error: entry.error ?? '', queuedSend: null });
    const payload = { messageid: messageId, status: entry.status };
    if (entry.status === 'Sent') return [this.#event(instanceId, 'messages', stored.chatId, { message: payload }, stored)];
    return [this.#event(instanceId, 'messages_update', stored.chatId, { event: payload })];
  }
}
