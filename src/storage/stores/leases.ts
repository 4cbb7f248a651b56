/**
 * The leases of a cluster. The lease of an instance is valid as long as the lease of its node, so one renewed row renews all leases of a node. The lease of a
 * node is valid until another node ends it. The clock of the database may step, so no lease expires by this clock. The clock only decides when an abandoned
 * name becomes free, and when old rows are deleted.
 */
import type { Claim } from '#actors/model.ts';
import {
  adminTokenSetting,
  type Change,
  type ChangeLook,
  type ChangeStore,
  type KnownNode,
  type Lease,
  type LeaseStore,
  type LeftWork,
  type LeftWorkStore,
  type LiveNode,
  type NameHolder,
  type TakenLease,
} from '#actors/ports.ts';
import { nextEpoch } from '../postgres/tenancy.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { isActive } from './campaigns.ts';

/** The present time of the database. A statement that waits for locks uses this time, because the statement may have begun long before. */
const clock = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
/**
 * The time at which the statement began, which is the same for all rows. Statements without locks use this time, because the planner can use it in a join.
 */
const began = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

/**
 * The time after `until` at which the name of a node becomes free, even if no node has ended its lease. A shorter time could free the name of a live node,
 * because the clock of the database may step. In milliseconds.
 */
const abandoned = 3_600_000;
/**
 * The time after `until` at which the row of an ended node and its leases are deleted. Until then, these rows show which instances the node had. In
 * milliseconds.
 */
const forgotten = 3_600_000;
/** The period for which recent takeovers are counted. In milliseconds. */
const lately = 3_600_000;

export const leaseStatements = {
  forget: {
    name: 'node-forget',
    text: `with gone as (delete from node where ended and until < ${clock} - ${forgotten} returning incarnation)
      delete from lease where incarnation in (select incarnation from gone)`,
  },
  // $1: name. $2: incarnation. $3: former incarnation. $4: duration of the lease in milliseconds. $5: capacity. $6: load. $7: draining. $8: version. $9: bus.
  join: {
    name: 'node-join',
    text: `insert into node (name, incarnation, until, capacity, load, draining, version, started, signs, derives, bus)
      values ($1, $2::uuid, ${clock} + $4::bigint, $5, $6, $7, $8, ${clock}, true, $2::uuid, $9)
      on conflict (name) do update set incarnation = excluded.incarnation, until = ${clock} + $4::bigint, capacity = excluded.capacity,
        load = excluded.load, draining = excluded.draining, version = excluded.version, started = excluded.started, signs = true,
        derives = excluded.derives, bus = excluded.bus, ended = false
      where node.ended or node.until <= ${clock} - ${abandoned} or node.incarnation in ($2::uuid, $3::uuid)
      returning ${clock}::float8 as now`,
  },
  holder: { name: 'node-holder', text: `select incarnation::text, until::float8 as until from node where name = $1` },
  renew: {
    name: 'node-renew',
    text: `update node set until = ${clock} + $3::bigint, capacity = $4, load = $5, draining = $6, astray = $7, bus = $8
      where name = $1 and incarnation = $2::uuid and not ended returning ${clock}::float8 as now`,
  },
  /** Ends the lease of a node. $1: incarnation. $2: the known `until`. If the node has renewed its lease meanwhile, `until` differs, and nothing changes. */
  end: {
    name: 'node-end',
    text: `update node set ended = true where incarnation = $1::uuid and until = $2::bigint and not ended returning true as done`,
  },
  leave: {
    name: 'node-leave',
    text: `with gone as (delete from node where incarnation = $1::uuid) delete from lease where incarnation = $1::uuid`,
  },
  nodes: {
    name: 'node-list',
    text: `select name, incarnation::text, capacity, load, astray, draining, version, until::float8 as until,
      (${began} - started)::float8 as age from node where not ended order by name`,
  },
  anyUnsigned: { name: 'node-unsigned', text: `select exists (select from node where until > ${began} and not signs) as found` },
  /** $1: milliseconds for which takeovers are counted. */
  known: {
    name: 'node-known',
    text: `with counted as materialized (select incarnation, cause, count(*)::int as count from lease
        where since > ${began} - $1::bigint group by incarnation, cause)
      select name, version, capacity, load, astray, bus, draining, ended, (until - ${began})::float8 as "leftMs", (${began} - started)::float8 as age,
        coalesce((select json_object_agg(cause, count) from counted where counted.incarnation = node.incarnation), '{}') as taken
      from node order by name`,
  },
  leaseOf: {
    name: 'lease-of',
    text: `select node.name as node, lease.since::float8 as since, (${began} - lease.since)::float8 as "heldMs", lease.cause,
        (node.until - ${began})::float8 as "leftMs" from lease join node using (incarnation)
      where lease.instance_id = $1 and not node.ended`,
  },
  epochOf: { name: 'lease-epoch', text: `select epoch from instance where id = $1` },
  free: {
    name: 'lease-free',
    text: `select id from instance where wanted in ('online', 'unlinked') and not removed and not exists (
        select from lease join node using (incarnation) where lease.instance_id = instance.id and not node.ended)
      order by last_active_at desc, id`,
  },
  unowned: {
    name: 'lease-unowned',
    text: `select id from unnest($1::text[]) as id where not exists (
      select from lease join node using (incarnation) where lease.instance_id = id and not node.ended)`,
  },
  // Before a node takes an instance, this statement locks the row of the instance. The next statement then sees all writes of the former owner.
  lock: {
    name: 'lease-lock',
    text: `select id from instance where id = any($1::text[]) and not removed order by id for update`,
  },
  /**
   * Takes locked instances ($2) for an incarnation ($1) with a cause ($3). The rows of the former and the new node are locked as well. This statement therefore
   * waits for an open renewal or end of a node's lease, and a later renewal or end waits for this statement.
   */
  take: {
    name: 'lease-take',
    text: `with nodes as materialized (select incarnation, ended from node
        where incarnation = $1::uuid or incarnation in (select incarnation from lease where instance_id = any($2::text[])) for share),
      good as materialized (select incarnation from nodes where not ended),
      raised as (update instance set epoch = ${nextEpoch} where id = any($2::text[]) and exists (select from good where incarnation = $1::uuid)
        and not exists (select from lease join good using (incarnation) where lease.instance_id = instance.id) returning id, epoch)
      insert into lease (instance_id, incarnation, epoch, since, cause) select id, $1::uuid, epoch, ${clock}, $3 from raised
      on conflict (instance_id) do update
        set incarnation = excluded.incarnation, epoch = excluded.epoch, since = excluded.since, cause = 'failover'
      returning instance_id as "instanceId", epoch, cause`,
  },
  /** Returns the differences between the leases of an incarnation ($1) and the instances ($2) with their epochs ($3) that the node holds. */
  compare: {
    name: 'lease-compare',
    text: `with leased as materialized (select instance_id as id, epoch from lease where incarnation = $1::uuid),
      held as materialized (select * from unnest($2::text[], $3::int[]) as held (id, epoch))
      select coalesce(leased.id, held.id) as "instanceId", coalesce(leased.epoch, held.epoch) as epoch, leased.id is not null as leased
      from leased full join held on held.id = leased.id and held.epoch = leased.epoch where leased.id is null or held.id is null`,
  },
  giveBack: {
    name: 'lease-give-back',
    text: `delete from lease using unnest($2::text[], $3::int[]) as claimed (id, epoch)
      where lease.instance_id = claimed.id and lease.epoch = claimed.epoch and lease.incarnation = $1::uuid`,
  },
  /**
   * Grants permits for handshakes by a token bucket. $1: requested permits. $2: burst. $3: milliseconds for one permit. `at` advances by the time
   * of the granted permits, and is never further in the past than the time of a burst.
   */
  admit: {
    name: 'lease-admit',
    text: `with held as materialized (select at from admission where name = 'handshakes' for update),
      moment as materialized (select at, extract(epoch from clock_timestamp())::float8 * 1000 as now from held),
      begun as materialized (select now, least(greatest(at, now - $2::float8 * $3::float8), now) as start from moment),
      granted as materialized (select start, least($1::float8, floor((now - start) / $3::float8)) as count from begun)
      update admission set at = start + count * $3::float8 from granted where name = 'handshakes' returning count`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

const columnsOf = (claims: readonly Claim[]) => [claims.map(({ instanceId }) => instanceId), claims.map(({ epoch }) => epoch)] as const;
const claimOf = ({ instanceId, epoch }: Claim): Claim => ({ instanceId, epoch });

type NoteTime = (now: number, tripMs: number) => void;

/** Runs a statement. Returns true if the row of the node was written. Calls `noteTime` with the database's clock that the answer contains. */
const isDone = async (database: Database, noteTime: NoteTime, statement: Statement, values: readonly unknown[]): Promise<boolean> => {
  const sent = performance.now();
  const [row] = await database.rows<{ now: number }>(statement, values);
  if (row) noteTime(row.now, performance.now() - sent);
  return row !== undefined;
};

/** Creates the store. `noteTime` gets the database's clock from each answer that contains it, and the round-trip time in milliseconds. */
export const createLeaseStore = (database: Database, noteTime: NoteTime = () => undefined): LeaseStore => ({
  async join({ name, incarnation, capacity, load, draining, version, bus = null }, ms, former) {
    await database.rows(leaseStatements.forget, []);
    const values = [name, incarnation, former, ms, capacity, load, draining, version, bus];
    if (await isDone(database, noteTime, leaseStatements.join, values)) return null;
    const [holder] = await database.rows<NameHolder>(leaseStatements.holder, [name]);
    // Without a row, the holder of the name has left meanwhile.
    return holder ?? { incarnation: '', until: 0 };
  },
  renew: ({ name, incarnation, capacity, load, draining, astray, bus = null }, ms) =>
    isDone(database, noteTime, leaseStatements.renew, [name, incarnation, ms, capacity, load, draining, astray, bus]),
  end: async ({ incarnation, until }) => (await database.rows(leaseStatements.end, [incarnation, until])).length > 0,
  leave: async (incarnation) => void (await database.rows(leaseStatements.leave, [incarnation])),
  async look(wantsFree = () => true) {
    const nodes = await database.rows<LiveNode>(leaseStatements.nodes, []);
    if (!wantsFree(nodes)) return { nodes, free: [] };
    const free = await database.rows<{ id: string }>(leaseStatements.free, []);
    return { nodes, free: free.map(({ id }) => id) };
  },
  anyUnsigned: async () => (await database.rows<{ found: boolean }>(leaseStatements.anyUnsigned, []))[0]?.found === true,
  known: () => database.rows<KnownNode>(leaseStatements.known, [lately]),
  leaseOf: async (id) => (await database.rows<Lease>(leaseStatements.leaseOf, [id]))[0] ?? null,
  epochOf: async (id) => (await database.rows<{ epoch: number }>(leaseStatements.epochOf, [id]))[0]?.epoch ?? null,
  unowned: async (ids) => (await database.rows<{ id: string }>(leaseStatements.unowned, [ids])).map(({ id }) => id),
  take: (incarnation, ids, cause) =>
    database.transaction(async (runner) => {
      const locked = (await runner.rows<{ id: string }>(leaseStatements.lock, [ids])).map(({ id }) => id);
      return locked.length === 0 ? [] : runner.rows<TakenLease>(leaseStatements.take, [incarnation, locked, cause]);
    }),
  async compare(incarnation, held) {
    const rows = await database.rows<Claim & { readonly leased: boolean }>(leaseStatements.compare, [incarnation, ...columnsOf(held)]);
    const { unheld = [], unleased = [] } = Object.groupBy(rows, ({ leased }) => (leased ? 'unheld' : 'unleased'));
    return { unheld: unheld.map(claimOf), unleased: unleased.map(claimOf) };
  },
  giveBack: async (incarnation, claims) => {
    await database.rows(leaseStatements.giveBack, [incarnation, ...columnsOf(claims)]);
  },
  async admit(asked, { perSecond, burst }) {
    const [row] = await database.rows<{ count: number }>(leaseStatements.admit, [asked, burst, 1000 / perSecond]);
    return row?.count ?? 0;
  },
});

// Changes of instances and webhooks, which every node caches. They are found by their versions.

const changeStatements = {
  /** $1: the last known version. $2: the name of the admin token's setting. An unused sequence has the last value 1, which counts as 0. */
  since: {
    name: 'change-since',
    text: `with look as materialized (
        select (last_value - case when is_called then 0 else 1 end)::float8 as latest,
          pg_snapshot_xmin(pg_current_snapshot())::text::float8 as oldest, pg_snapshot_xmax(pg_current_snapshot())::text::float8 as next,
          (select value from setting where name = $2) as admin
        from change_version),
      found as (
        select 'instance' as kind, id, changed::float8 as version, removed from instance where changed > $1
        union all select 'webhook', id, changed::float8, removed from webhook where changed > $1)
      select look.*, found.* from look left join found on true order by version`,
  },
  ids: {
    name: 'change-ids',
    text: `select 'instance' as kind, id from instance where not removed union all select 'webhook', id from webhook where not removed`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

type LookRow = Omit<ChangeLook, 'changes'> & (Change | { readonly kind: null });

export const createChangeStore = (database: Database): ChangeStore => ({
  async since(version) {
    const rows = await database.rows<LookRow>(changeStatements.since, [version, adminTokenSetting]);
    const { latest = 0, oldest = 0, next = 0, admin = null } = rows[0] ?? {};
    const changes = rows.flatMap((row) =>
      row.kind === null ? [] : [{ kind: row.kind, id: row.id, version: row.version, removed: row.removed }],
    );
    return { changes, latest, oldest, next, admin };
  },
  async ids() {
    const rows = await database.rows<Pick<Change, 'kind' | 'id'>>(changeStatements.ids, []);
    const of = (kind: Change['kind']): readonly string[] => rows.filter((row) => row.kind === kind).map(({ id }) => id);
    return { instances: of('instance'), webhooks: of('webhook') };
  },
});

// Finds the pending work of instances that a node has just taken over.

/** Returns the condition that a webhook has deliveries of a kind for an instance. Each kind has an index that begins with the webhook and the instance. */
const hasRow = (kind: string): string => `exists (select from outbox where webhook_id = webhook.id and instance_id = asked.id and ${kind})`;
const webhooksOf = (owner: string): string => `select webhook.id from webhook
        where ${owner} and not webhook.removed and (${hasRow('not_before = 0')} or ${hasRow('not_before > 0')})`;

export const leftWorkStatements = {
  /** $1: instances. */
  of: {
    name: 'left-work',
    text: `select asked.id, waiting.queued, waiting.others > 0 as "isInterrupted",
        array(${webhooksOf('webhook.instance_id = asked.id')} union all ${webhooksOf('webhook.instance_id is null')}) as webhooks,
        exists (select from campaign where campaign.instance_id = asked.id and ${isActive}) as "hasCampaign"
      from unnest($1::text[]) as asked (id), lateral (
        select count(queued_send)::int as queued, (count(*) - count(queued_send))::int as others from message
        where message.instance_id = asked.id and message.status = 'Queued') as waiting`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const createLeftWorkStore = (database: Database): LeftWorkStore => ({
  of: (ids) => database.rows<LeftWork>(leftWorkStatements.of, [ids]),
});
