/**
 * Migrates the tables while other nodes work on them. After a kill, the next start continues with the interrupted migration. A statement waits at most
 * two seconds for a lock, because the statements of other nodes wait behind it. The migration is then retried.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#actors/ports.ts';
import { lacksNames, noteUpgrade } from '../migrations/baseline.ts';
import { migrations } from '../migrations/list.ts';
import type { ListedMigration } from '../migrations/step.ts';
import { explained, isLockTimeout } from './failures.ts';
import { createOrm, poolOf, type Client } from './orm.ts';

/** The progress of the migrations at a start. */
export interface MigrationProgress {
  /** The migration that runs; '' while another process migrates the database. */
  readonly name: string;
  /** The position of this migration among the migrations that this start must run, from 1. */
  readonly number: number;
  readonly of: number;
  /** The finished part of an index build in percent; null if it is not known. */
  readonly percent: number | null;
}

interface MigrateOptions {
  /** The migrations of another version. Only tests of upgrades set them. */
  readonly steps?: readonly ListedMigration[];
  /** Called at the beginning of each migration and each second while it runs. */
  readonly onProgress?: (progress: MigrationProgress) => void;
}

/** The longest wait for a lock, the pause between two attempts, and the interval of the progress reports. In milliseconds. */
const lockTimeout = 2_000;
const lockPause = 3_000;
const lookEvery = 1_000;

/** Takes the advisory lock of migrations. The lock is polled, because a waiting statement would block the concurrent index build of another node. */
const lock = { name: 'migration-lock', text: `select pg_try_advisory_lock(7110481293) as ours` };
const unlock = { name: 'migration-unlock', text: `select pg_advisory_unlock(7110481293)` };
const lockEvery = 100;

/** Finds indexes that an interrupted build left behind, unless the server still builds them. */
const unfinished = {
  name: 'migration-unfinished',
  text: `select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
    where not indisvalid and relnamespace = 'public'::regnamespace
      and not exists (select from pg_stat_progress_create_index as build where build.index_relid = pg_index.indexrelid)`,
};
const built = {
  name: 'migration-built',
  text: `select (case when tuples_total > 0 then tuples_done::float8 / tuples_total when blocks_total > 0 then blocks_done::float8 / blocks_total end) as part
    from pg_stat_progress_create_index where datname = current_database() limit 1`,
};

const ask = async <T>(client: Client, statement: typeof lock): Promise<readonly T[]> =>
  (await client.query(statement)).rows as readonly T[];

type Report = (progress: MigrationProgress) => void;

const takeLock = async (guard: Client, report: Report): Promise<void> => {
  for (let tries = 0; (await ask<{ ours: boolean }>(guard, lock))[0]?.ours !== true; tries += 1) {
    if (tries > 0) report({ name: '', number: 0, of: 0, percent: null });
    await wait(lockEvery);
  }
};

/** Runs a migration, and reports the progress of an index build each second. */
const reporting = async (guard: Client, progress: MigrationProgress, report: Report, work: () => Promise<unknown>): Promise<void> => {
  const ended = new AbortController();
  const looking = (async () => {
    for (;;) {
      await wait(lookEvery, undefined, { signal: ended.signal });
      const [build] = await ask<{ part: number | null }>(guard, built);
      report({ ...progress, percent: typeof build?.part === 'number' ? Math.floor(build.part * 100) : null });
    }
  })().catch(() => undefined);
  try {
    report(progress);
    await work();
  } finally {
    ended.abort();
    await looking;
  }
};

/** Runs a migration, and retries while a lock is not free in time. */
const patiently = async (name: string, log: Log, work: () => Promise<unknown>): Promise<void> => {
  for (;;) {
    try {
      return void (await work());
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      log.warn({ migration: name, retryInMs: lockPause }, 'storage.migrationWaits');
    }
    await wait(lockPause);
  }
};

/** Migrates the tables. If several processes start at once, one migrates and the others wait. Tables of a later version are left as they are. */
export const migrate = async (
  url: string,
  log: Log,
  { steps = migrations, onProgress = () => undefined }: MigrateOptions = {},
): Promise<void> => {
  // The pool has one connection for the advisory lock, and one for all statements, so that `set` in one statement applies to the next.
  const options = { max: 2, application_name: 'dormouse migration', options: `-c lock_timeout=${lockTimeout}` };
  const orm = await createOrm(url, log, options, [], steps);
  try {
    const guard = await (await poolOf(orm)).connect();
    try {
      await takeLock(guard, onProgress);
      const executed = new Set((await orm.migrator.getExecuted()).map(({ name }) => name));
      if (lacksNames(executed)) await orm.em.getConnection().execute(noteUpgrade);
      const ran: string[] = [];
      // The baseline marks other migrations as done, so the pending migrations are read again after each migration.
      for (let pending = await orm.migrator.getPending(); pending[0] !== undefined; pending = await orm.migrator.getPending()) {
        const [{ name }] = pending;
        await reporting(guard, { name, number: ran.length + 1, of: ran.length + pending.length, percent: null }, onProgress, () =>
          patiently(name, log, async () => {
            for (const left of await ask<{ name: string }>(guard, unfinished))
              await orm.em.getConnection().execute(`drop index concurrently if exists ${left.name}`);
            await orm.migrator.up({ migrations: [name] });
          }),
        );
        ran.push(name);
      }
      // The migration of a new database is logged at the level debug.
      const level = executed.size === 0 ? 'debug' : 'info';
      if (ran.length > 0) log[level]({ migrations: ran }, 'storage.migrated');
      await ask(guard, unlock);
    } finally {
      guard.release();
    }
  } catch (error) {
    throw explained(error);
  } finally {
    await orm.close(true);
  }
};
