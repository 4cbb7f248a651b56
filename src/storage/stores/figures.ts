/** Figures of nodes by the minute: written in batches, summed up in steps, bounded by age. */
import type { FigureStep, FigureStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const figureStatements = {
  put: {
    name: 'figures-put',
    text: `insert into node_figure (node, minute, span_ms, received, sent, delivered, failed, reconnects, memory_bytes, loop_ms)
      select $1::text, * from unnest($2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::bigint[], $10::int[])
      on conflict (minute, node) do update set span_ms = excluded.span_ms, received = excluded.received, sent = excluded.sent,
        delivered = excluded.delivered, failed = excluded.failed, reconnects = excluded.reconnects, memory_bytes = excluded.memory_bytes,
        loop_ms = excluded.loop_ms`,
  },
  /** $1 first minute, $2 minute after the last, $3 minutes of a step, $4 the most steps. */
  find: {
    name: 'figures-find',
    text: `select node, (minute / $3::int) * $3::int as minute, sum(span_ms)::float8 as "spanMs", sum(received)::float8 as received,
        sum(sent)::float8 as sent, sum(delivered)::float8 as delivered, sum(failed)::float8 as failed, sum(reconnects)::float8 as reconnects,
        max(memory_bytes)::float8 as "memoryBytes", max(loop_ms) as "loopMs"
      from node_figure where minute >= $1::int and minute < $2::int
      group by node, minute / $3::int order by node, minute / $3::int limit $4::int`,
  },
  /** $1 first minute that stays, $2 last minute that stays, $3 the most rows. */
  expire: {
    name: 'figures-expire',
    text: `with old as ((select minute, node from node_figure where minute < $1::int order by minute limit $3::int)
        union all (select minute, node from node_figure where minute > $2::int order by minute desc limit $3::int) limit $3::int)
      delete from node_figure using old where node_figure.minute = old.minute and node_figure.node = old.node returning 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Minutes after the oldest kept row beyond which a row comes from a clock that was ahead. */
const aheadMinutes = 2 * 1_440;

/** The largest value of the integer columns. A counter of one minute never comes near it. */
const most = 2_147_483_647;

export const makeFigureStore = (database: Database): FigureStore => ({
  async put(node, rows) {
    const whole = (of: (row: (typeof rows)[number]) => number): readonly number[] =>
      rows.map((row) => Math.min(most, Math.max(0, Math.round(of(row)))));
    const columns = [
      whole(({ minute }) => minute),
      whole(({ spanMs }) => spanMs),
      whole(({ received }) => received),
      whole(({ sent }) => sent),
      whole(({ delivered }) => delivered),
      whole(({ failed }) => failed),
      whole(({ reconnects }) => reconnects),
      rows.map(({ memoryBytes }) => Math.round(memoryBytes)),
      whole(({ loopMs }) => loopMs),
    ];
    await database.rows(figureStatements.put, [node, ...columns]);
  },
  find: ({ from, to, step, limit }) => database.rows<FigureStep>(figureStatements.find, [from, to, step, limit]),
  async expire(before, limit) {
    const first = Math.floor(before / 60_000);
    return (await database.rows(figureStatements.expire, [first, first + aheadMinutes, limit])).length;
  },
});
