/** Past and waiting deliveries in memory, under the rules of their port. */
import type { Delivery, DeliveryRecord, DeliveryState, EventType } from '#actors/model.ts';
import type { DeliveryQuery, DeliveryStore, Excess, ReplayQuery, Tally } from '#actors/ports.ts';
import { deliveryOf } from './records.ts';
import type { FakeDatabase } from './storage.ts';

/** The number of rows in a batch. It is small, so a test with few rows needs several batches. */
const pieceRows = 5;

const byAge = (a: Pick<Delivery, 'at' | 'seq'>, b: Pick<Delivery, 'at' | 'seq'>): number => a.at - b.at || a.seq - b.seq;

export class FakeDeliveries implements DeliveryStore {
  readonly #db: FakeDatabase;

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  #records(): (DeliveryRecord & Delivery)[] {
    const { outbox, archive } = this.#db;
    return [
      ...[...outbox.values()].map((row) => ({
        status: 0,
        error: '',
        ...row,
        state: row.notBefore > 0 ? ('parked' as const) : ('waiting' as const),
        endedAt: 0,
      })),
      ...archive.map((row) => ({ ...row, notBefore: 0, state: row.dead ? ('dead' as const) : ('delivered' as const) })),
    ];
  }

  list = ({ webhooks, state, from = 0, to = Infinity, limit, offset }: DeliveryQuery) =>
    this.#db.run('deliveries.list', () => {
      const found = this.#records()
        .filter((row) => webhooks.includes(row.webhookId) && (state === null || row.state === state) && row.at >= from && row.at <= to)
        .sort((a, b) => b.at - a.at || b.seq - a.seq);
      return { deliveries: found.slice(offset, offset + limit), more: found.length > offset + limit };
    });

  find = (webhooks: readonly string[], eventId: string) =>
    this.#db.run('deliveries.find', () => {
      const found = this.#records().filter((row) => webhooks.includes(row.webhookId) && row.eventId === eventId);
      return found.sort(byAge).at(-1) ?? null;
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
        if (row) outbox.set(next, { ...deliveryOf(row), seq: next, attempts: 0, notBefore: 0 });
      }
      return [...Map.groupBy(chosen, ({ instanceId }) => instanceId)].map(([instanceId, rows]) => ({ instanceId, count: rows.length }));
    });

  tally = (webhooks: readonly string[] | null) =>
    this.#db.run('deliveries.tally', () => {
      const rows = this.#records().filter(({ webhookId }) => webhooks?.includes(webhookId) ?? true);
      return [...Map.groupBy(rows, ({ webhookId }) => webhookId)].map(([webhookId, of]): Tally => {
        const count = (state: DeliveryState): number => of.filter((row) => row.state === state).length;
        const bytes = of.filter((row) => row.endedAt === 0).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
        return { webhookId, waiting: count('waiting'), parked: count('parked'), bytes, delivered: count('delivered'), dead: count('dead') };
      });
    });

  oldest = () => this.#db.run('deliveries.oldest', () => [...this.#db.outbox.values()].toSorted((a, b) => a.seq - b.seq)[0]?.at ?? null);
  oldestOf = (webhooks: readonly string[]) =>
    this.#db.run('deliveries.oldestOf', () => {
      const first = (rows: readonly { readonly at: number }[]): number | null =>
        rows.length === 0 ? null : Math.min(...rows.map(({ at }) => at));
      const { archive, outbox } = this.#db;
      return webhooks.map((webhookId) => {
        const past = archive.filter((row) => row.webhookId === webhookId);
        return {
          webhookId,
          waiting: first([...outbox.values()].filter((row) => row.webhookId === webhookId)),
          delivered: first(past.filter(({ dead }) => !dead)),
          dead: first(past.filter(({ dead }) => dead)),
        };
      });
    });

  foldTallies = () => this.#db.run('deliveries.foldTallies', () => undefined);

  trim = (webhookId: string, types: readonly EventType[], excess: Excess) =>
    this.#db.run('deliveries.trim', () => {
      const gone: Record<string, number> = {};
      let [rows, bytes] = [0, 0];
      const oldest = [...this.#db.outbox.values()].filter((row) => row.webhookId === webhookId && types.includes(row.type)).sort(byAge);
      for (const row of oldest.slice(0, pieceRows)) {
        if (rows < excess.rows || bytes < excess.bytes || row.at < excess.before) {
          this.#db.outbox.delete(row.seq);
          gone[row.type] = (gone[row.type] ?? 0) + 1;
        }
        rows += 1;
        bytes += Buffer.byteLength(row.body);
      }
      return gone;
    });

  forget = (webhookId: string, dead: boolean, { rows, before }: Omit<Excess, 'bytes'>) =>
    this.#db.run('deliveries.forget', () => {
      const { archive } = this.#db;
      const oldest = archive.filter((row) => row.webhookId === webhookId && row.dead === dead).sort(byAge);
      const gone = oldest.slice(0, pieceRows).filter((row, n) => n < rows || row.at < before);
      for (const row of gone) archive.splice(archive.indexOf(row), 1);
      return gone.length;
    });
}
