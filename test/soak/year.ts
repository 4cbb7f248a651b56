/**
 * A database as so many days leave it, and what happens to it then: an upgrade, traffic beside expiry, a backup, a logout of the largest session, and a
 * clock that jumps. Everything is real but the age of the rows.
 */
import { join } from 'node:path';
import { ClockWatch } from '#actors/supervisor/clock-watch.ts';
import { backUp } from '#src/storage/backup/backup.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate, openStorage, startEmbedded, type Storage } from '#src/storage/open.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { fill, quiet } from '#test/bench/fill.ts';
import { message, owner } from '#test/contract/samples.ts';
import { readPinned, type PinnedMigration } from '#test/support/upgrade.ts';

export interface YearOptions {
  /** A folder that the caller removes. */
  readonly folder: string;
  readonly sessions: number;
  /** Age of the oldest rows. */
  readonly days: number;
  /** Of all sessions together. */
  readonly messages: number;
  readonly receipts: number;
  /** Keys of the largest session. */
  readonly keys: number;
}

export interface YearRow {
  readonly step: string;
  /** Milliseconds. */
  readonly took: number;
  readonly outcome: string;
  /** The slowest write of a client meanwhile, in milliseconds; null where none wrote. */
  readonly slowestWrite: number | null;
}

const day = 86_400_000;
const largest = 'r0';
/** Of all instances. */
const epoch = 1;
/** As MESSAGES_KEEP_DAYS. */
const keepDays = 180;

const fillAll = async (database: Database, { sessions, days, messages, receipts, keys }: YearOptions, now: number): Promise<void> => {
  const at = `(${now} - (${days * day}::float8 * (1 - n::float8 / ${Math.max(messages, 1)})))::bigint`;
  const perSession = `'r' || n % ${sessions}`;
  const bytes = (name: string): string => `decode(md5('${name}' || n), 'hex')`;
  await fill(database, 'instance', sessions, { id: `'r' || n`, token: bytes('token'), token_hash: bytes('hash'), epoch: String(epoch) });
  await fill(database, 'message', messages, {
    instance_id: perSession,
    id: `'s' || n`,
    message_id: `'m' || n`,
    chat_id: `(5511900000000 + n % 500)::text || '@s.whatsapp.net'`,
    text: `repeat('x', 60)`,
    status: `'Sent'`,
    from_me: 'true',
    is_group: 'n % 50 = 0',
    timestamp: at,
  });
  const groups = Math.max(1, Math.floor(messages / 50));
  await fill(database, 'receipt', receipts, {
    instance_id: `'r' || ((n % ${groups}) * 50) % ${sessions}`,
    message_id: `'m' || (n % ${groups}) * 50`,
    member: `(200000000000000 + n / ${groups})::text || '@lid'`,
    member_pn: `''`,
    delivered_at: '5',
  });
  await fill(database, 'signal_key', keys, {
    instance_id: `'${largest}'`,
    type: `'session'`,
    id: `(200000000000000 + n)::text || '_1.0'`,
    sealed: `decode(repeat('ab', 400), 'hex')`,
  });
};

/** A client that writes all the time; `stop` answers with its slowest write. */
const writer = (write: (n: number) => Promise<unknown>) => {
  const state = { goes: true, slowest: 0 };
  const work = (async () => {
    for (let n = 0; state.goes; n += 1) {
      const began = performance.now();
      await write(n);
      state.slowest = Math.max(state.slowest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async (): Promise<number> => {
    state.goes = false;
    await work;
    return state.slowest;
  };
};

const commitOne = (storage: Storage) => (n: number) =>
  storage.journal.commit(
    { id: largest, owner, epoch },
    [
      {
        kind: 'message',
        message: { ...message, messageId: `now${n}`, timestamp: Date.now() },
        chat: { chatId: message.chatId },
        unread: false,
      },
    ],
    () => [],
  );

const expireAll = async (storage: Storage, now: number): Promise<string> => {
  let [messages, receipts] = [0, 0];
  for (let isMore = true; isMore;) {
    const piece = await storage.receiptExpiry.expire(now - 30 * day);
    receipts += piece.removed;
    isMore = piece.more;
  }
  for (let removed = 1_000; removed === 1_000; messages += removed)
    removed = await storage.messageExpiry.expire(now - keepDays * day, 1_000);
  return `${messages} messages removed, ${receipts} receipts became counts`;
};

const logOut = async (storage: Storage): Promise<string> => {
  const began = performance.now();
  await storage.vault.discard(largest, epoch, 'delete', 'a year');
  const answered = performance.now() - began;
  for (const removal of await storage.removals.pending()) while (await storage.removals.removePiece(removal));
  await storage.vault.cleared(largest);
  return `answered after ${answered.toFixed(0)} ms`;
};

const jump = async (storage: Storage): Promise<string> => {
  const clock = { ahead: 0 };
  const time = { now: () => Date.now() + clock.ahead, monotonic: () => performance.now(), correction: () => 0 };
  const platform = { heardTime: () => null };
  const watch = new ClockWatch({ time, log: quiet, settings: storage.settings, messages: storage.messages, platform });
  await watch.begin();
  clock.ahead = 200 * day;
  const told = watch.trouble;
  clock.ahead = 0;
  return told !== '' && watch.trouble === '' ? 'nothing is removed until it agrees again' : `not noticed (${told})`;
};

/** Runs everything once; one row for each step. */
export const runYear = async (options: YearOptions): Promise<readonly YearRow[]> => {
  const rows: YearRow[] = [];
  const now = Date.now();
  const timed = async (step: string, work: () => Promise<string>, write: ((n: number) => Promise<unknown>) | null): Promise<void> => {
    const stop = write && writer(write);
    const began = performance.now();
    const outcome = await work();
    rows.push({ step, took: performance.now() - began, outcome, slowestWrite: stop ? await stop() : null });
  };
  const dataDir = join(options.folder, 'data');
  const server = await startEmbedded({ dataDir, log: quiet });
  const database = await openDatabase({ url: server.url, log: quiet, poolSize: 2, limits: { statement: 120_000, connection: 10_000 } });
  let storage: Storage | null = null;
  try {
    const pinned = new Set(readPinned<readonly PinnedMigration[]>('migrations.json').map(({ name }) => name));
    await migrate(server.url, quiet, { steps: migrations.filter(({ name }) => pinned.has(name)) });
    await timed('fill', async () => fillAll(database, options, now).then(() => `${options.days} days`), null);
    await timed(
      'upgrade',
      async () => migrate(server.url, quiet).then(() => 'migrated'),
      (n) => database.rows({ name: '', text: `insert into setting (name, value) values ($1, '')` }, [`write ${n}`]),
    );
    const open = await openStorage({ databaseUrl: server.url, dataDir, encryptionKey: Buffer.alloc(32, 7), log: quiet });
    storage = open;
    const write = commitOne(open);
    await timed('expiry', () => expireAll(open, now), write);
    const backup = (): Promise<string> =>
      backUp({ dataDir, to: join(options.folder, 'backup'), version: 'soak', log: quiet }).then(({ files }) => {
        const bytes = files.reduce((sum, { size }) => sum + size, 0);
        return `${(bytes / 1e6).toFixed(0)} MB in ${files.length} files`;
      });
    await timed('backup', backup, write);
    await timed('logout', () => logOut(open), write);
    await timed('clock 200 days forward', () => jump(open), null);
  } finally {
    await storage?.close();
    await database.close();
    await server.close(true);
  }
  return rows;
};
