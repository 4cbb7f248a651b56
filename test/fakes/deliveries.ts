/** Past and waiting deliveries in memory, under the rules of their port. */
import type { DeliveryRecord, EventType } from '#actors/model.ts';
import type { DeliveryQuery, DeliveryStore, OutboxBounds, ReplayQuery } from '#actors/ports.ts';
import type { FakeDatabase } from './storage.ts';

type Ranks = Readonly<Record<EventType, number>>;

export class FakeDeliveries implements DeliveryStore {
  readonly #db: FakeDatabase;

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  #records(): (DeliveryRecord & { readonly seq: number })[] {
    const { outbox, archive } = this.#db;
    return [
      ...[...outbox.values()].map((row) => ({
        ...row,
        state: row.notBefore > 0 ? ('parked' as const) : ('waiting' as const),
        status: 0,
        error: '',
        endedAt: 0,
      })),
      ...archive.map((row) => ({ ...row, notBefore: 0, state: row.dead ? ('dead' as const) : ('delivered' as const) })),
    ];
  }

  list = ({ webhooks, state, limit, offset }: DeliveryQuery) =>
    this.#db.run('deliveries.list', () => {
      const found = this.#records()
        .filter((row) => webhooks.includes(row.webhookId) && (state === null || row.state === state))
        .sort((a, b) => b.at - a.at || b.seq - a.seq);
      return { deliveries: found.slice(offset, offset + limit), more: found.length > offset + limit };
    });

  replay = ({ webhook, events, types, states, from, to, limit }: ReplayQuery) =>
    this.#db.run('deliveries.replay', () => {
      const { outbox, archive } = this.#db;
      const chosen = this.#records()
        .filter(
          (row) =>
            row.webhookId === webhook &&
            states.includes(row.state) &&
            row.at >= from &&
            row.at <= to &&
            (events?.includes(row.eventId) ?? true) &&
            (types?.includes(row.type) ?? true),
        )
        .sort((a, b) => a.at - b.at || a.seq - b.seq)
        .slice(0, limit);
      for (const { seq } of chosen) {
        const past = archive.findIndex((row) => row.seq === seq);
        const row = past < 0 ? outbox.get(seq) : archive.splice(past, 1)[0];
        const next = past < 0 ? seq : Math.max(0, ...outbox.keys(), ...archive.map((other) => other.seq)) + 1;
        if (row) outbox.set(next, { ...row, seq: next, attempts: 0, notBefore: 0 });
      }
      return [...Map.groupBy(chosen, ({ instanceId }) => instanceId)].map(([instanceId, rows]) => ({ instanceId, count: rows.length }));
    });

  tally = (webhooks: readonly string[] | null) =>
    this.#db.run('deliveries.tally', () => {
      const rows = [...this.#db.outbox.values()].filter(({ webhookId }) => webhooks?.includes(webhookId) ?? true);
      return [...Map.groupBy(rows, ({ webhookId }) => webhookId)].map(([webhookId, of]) => ({
        webhookId,
        waiting: of.filter(({ notBefore }) => notBefore === 0).length,
        parked: of.filter(({ notBefore }) => notBefore > 0).length,
        bytes: of.reduce((sum, { body }) => sum + body.length, 0),
        oldest: Math.min(...of.map(({ at }) => at)),
      }));
    });

  trim = (webhookId: string, bounds: OutboxBounds, ranks: Ranks) =>
    this.#db.run('deliveries.trim', () => {
      const gone: Record<string, number> = {};
      let [rows, bytes] = [0, 0];
      const ranked = [...this.#db.outbox.values()].filter((row) => row.webhookId === webhookId);
      for (const row of ranked.sort((a, b) => ranks[b.type] - ranks[a.type] || b.seq - a.seq)) {
        rows += 1;
        bytes += row.body.length;
        if (row.at >= bounds.before && rows <= bounds.rows && bytes <= bounds.bytes) continue;
        this.#db.outbox.delete(row.seq);
        gone[row.type] = (gone[row.type] ?? 0) + 1;
      }
      return gone;
    });

  forget = (rows: number, deliveredBefore: number, deadBefore: number) =>
    this.#db.run('deliveries.forget', () => {
      const { archive } = this.#db;
      const isKept = (row: (typeof archive)[number]): boolean =>
        row.at >= (row.dead ? deadBefore : deliveredBefore) &&
        archive.filter((other) => other.webhookId === row.webhookId && other.dead === row.dead && other.at > row.at).length < rows;
      archive.splice(0, archive.length, ...archive.filter(isKept));
    });
}
