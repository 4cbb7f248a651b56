/** Faults of a database, each for a limited time: closed connections, a killed, paused or slow server, locks, serialization failures, and a full disk. */
import { globSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '#src/storage/postgres/database.ts';
import { databaseServers, signalTo } from './processes.ts';
import type { SmallDisk } from './small-disk.ts';

export interface TroubleOptions {
  /** The data folder of the gateway with the embedded server. */
  readonly dataDir: string;
  readonly database: Database;
  /** The disk of the server, or null if no disk can be mounted. In that case the server answers as if its disk were full. */
  readonly disk: SmallDisk | null;
  /** The duration of a fault. It exceeds the time-out of a statement of the gateway. In milliseconds. */
  readonly lasting: number;
}

export interface Trouble {
  readonly name: string;
  /** Causes the fault, and waits until the fault ends. */
  happen(): Promise<void>;
}

/** The tables that every text writes to. */
const tables = ['message', 'chat', 'signal_key', 'inbound', 'outbox'] as const;

/** The space for the log of the server, which is enough for about a thousand refusals. In bytes. */
const logRoom = 1_000_000;

/** Returns the ids of all processes of the server. Each process has the folder as its working directory. */
const processesOf = (dataDir: string): readonly number[] => {
  const folders = globSync('**/postmaster.pid', { cwd: dataDir }).map((path) => `${dataDir}/${path.replace(/\/postmaster\.pid$/, '')}`);
  return globSync('/proc/[0-9]*').flatMap((path) => {
    try {
      return folders.includes(readlinkSync(`${path}/cwd`)) ? [Number(path.slice('/proc/'.length))] : [];
    } catch {
      return [];
    }
  });
};

/** Runs statements, with retries while the server starts. */
const insist = async (database: Database, ...texts: readonly string[]): Promise<void> => {
  for (const text of texts)
    for (let tries = 0; ; tries += 1) {
      try {
        await database.rows({ name: '', text }, []);
        break;
      } catch (error) {
        if (tries === 100) throw error;
      }
      await wait(100);
    }
};

/** Adds a trigger in PL/pgSQL to the tables during the fault. Every written row passes `body`. */
const withTrigger = async ({ database, lasting }: TroubleOptions, body: string, chosen: readonly string[] = tables): Promise<void> => {
  await insist(
    database,
    `create or replace function trouble() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
    ...chosen.map(
      (table) => `create or replace trigger trouble before insert or update on ${table} for each row execute function trouble()`,
    ),
  );
  await wait(lasting);
  await insist(database, ...chosen.map((table) => `drop trigger if exists trouble on ${table}`));
};

const locked = ({ database, lasting }: TroubleOptions, lock: string): Promise<void> =>
  database.transaction(async (runner) => {
    await runner.rows({ name: '', text: lock }, []);
    await wait(lasting);
  });

const fill = async (options: TroubleOptions): Promise<void> => {
  const { dataDir, disk, lasting } = options;
  if (disk === null) return withTrigger(options, `raise exception 'no space left on device' using errcode = '53100'`);
  // The log of the server is on the same disk, and needs space for the refusals.
  disk.keepRoomFor(`${dataDir}/postgres/server.log`, logRoom);
  for (const until = Date.now() + lasting; Date.now() < until; await wait(50)) disk.fill();
  disk.drain();
};

const cut = async ({ database }: TroubleOptions): Promise<void> => {
  for (let times = 0; times < 3; times += 1) {
    await insist(database, `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'dormouse%'`);
    await wait(200);
  }
};

const hold = async ({ dataDir, lasting }: TroubleOptions): Promise<void> => {
  const held = processesOf(dataDir).filter((pid) => signalTo(pid, 'SIGSTOP'));
  await wait(lasting);
  for (const pid of held) signalTo(pid, 'SIGCONT');
};

const end = async ({ dataDir }: TroubleOptions, signal: NodeJS.Signals): Promise<void> => {
  for (const pid of databaseServers(dataDir)) signalTo(pid, signal);
};

export const troublesOf = (options: TroubleOptions): readonly Trouble[] => [
  { name: 'its connections are cut', happen: () => cut(options) },
  { name: 'it is killed', happen: () => end(options, 'SIGKILL') },
  { name: 'it is stopped', happen: () => end(options, 'SIGINT') },
  { name: 'it hangs', happen: () => hold(options) },
  ...tables.map((table) => ({ name: `${table} is locked`, happen: () => locked(options, `lock table ${table} in access exclusive mode`) })),
  { name: 'the instances are locked', happen: () => locked(options, 'select id from instance for update') },
  {
    name: 'conflicts',
    happen: () => withTrigger(options, `if random() < 0.2 then raise exception 'conflict' using errcode = '40001'; end if`),
  },
  { name: 'it is slow', happen: () => withTrigger(options, 'perform pg_sleep(0.02)') },
  { name: 'statements take too long', happen: () => withTrigger(options, 'perform pg_sleep(60)', ['signal_key', 'message']) },
  { name: 'its disk is full', happen: () => fill(options) },
];
