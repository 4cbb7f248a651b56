/** Tests SQLite files in every state that a program may leave behind. */
import assert from 'node:assert/strict';
import { appendFile, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqlite } from '#src/moving/sqlite.ts';
import { openTestFolder } from '#test/support/whatsmeow/reading.ts';

const scratch = await openTestFolder();

/** Copies the files of a database in their current state into a folder. Returns the path. */
const imageOf = async (path: string): Promise<string> => {
  const folder = await scratch.newFolder();
  const name = basename(path);
  for (const file of (await readdir(scratch.folder)).filter((one) => one.startsWith(name)))
    await cp(join(scratch.folder, file), join(folder, file));
  return join(folder, name);
};

const valuesIn = async (path: string): Promise<readonly unknown[]> => {
  const source = await openSqlite(path);
  try {
    return (await source.rows<{ value: unknown }>('select value from t order by id')).map(({ value }) => value);
  } finally {
    await source.close();
  }
};

const rows = 2_000;

/** Creates a table that is larger than the memory of SQLite in this test. */
const filled = (path: string, mode: 'wal' | 'delete'): DatabaseSync => {
  const database = new DatabaseSync(path);
  database.exec(`pragma journal_mode = ${mode}; pragma synchronous = off; pragma cache_size = 4; pragma wal_autocheckpoint = 0;
    create table t (id integer primary key, value text, filling text); begin`);
  const insert = database.prepare('insert into t values (?, ?, ?)');
  for (let id = 1; id <= rows; id += 1) insert.run(id, 'old', 'x'.repeat(200));
  database.exec('commit');
  return database;
};

test('sqlite source: rows that were committed to the log are read', async () => {
  const path = scratch.newFile();
  const database = filled(path, 'wal');
  database.exec(`update t set value = 'new'`);
  const values = await valuesIn(await imageOf(path));
  database.close();
  assert.deepEqual([values.length, new Set(values)], [rows, new Set(['new'])]);
});

test('sqlite source: a transaction that a kill interrupted is undone', async () => {
  const path = scratch.newFile();
  const database = filled(path, 'delete');
  database.exec(`begin; update t set value = 'half'`);
  const image = await imageOf(path);
  assert.ok((await readFile(image)).includes('half'), 'the file holds what was not committed');
  assert.ok((await readdir(join(image, '..'))).includes(`${basename(image)}-journal`));
  const values = await valuesIn(image);
  database.close();
  assert.deepEqual([values.length, new Set(values)], [rows, new Set(['old'])]);
});

test('sqlite source: a file that is written during the copy is refused with a sentence', async () => {
  const path = scratch.newFile();
  filled(path, 'delete').close();
  const program = new AbortController();
  const writing = (async () => {
    while (!program.signal.aborted) await appendFile(`${path}-wal`, 'x');
  })();
  await assert.rejects(openSqlite(path), { name: 'SourceFault', message: /was written while it was copied: stop the program/ });
  program.abort();
  await writing;
});

test('sqlite source: a damaged page is reported when it is read, without a path', async () => {
  const path = scratch.newFile();
  filled(path, 'delete').close();
  const bytes = await readFile(path);
  await writeFile(path, bytes.fill(0x55, 8192, 200_000));
  const source = await openSqlite(path);
  await assert.rejects(Array.fromAsync(source.stream('select value from t')), (error: Error) => {
    assert.match(error.message, /^\d+\.db cannot be read any further: /);
    assert.doesNotMatch(error.message, /\//);
    return error.name === 'SourceFault';
  });
  await source.close();
});

test('sqlite source: a missing or unreadable file is reported by its name', async () => {
  await assert.rejects(openSqlite(join(scratch.folder, 'nothing.db')), {
    name: 'SourceFault',
    message: 'nothing.db cannot be read: ENOENT',
  });
});

test('sqlite source: bytes are Buffers, large numbers text, and a missing table has no columns', async () => {
  const path = scratch.newFile();
  const database = new DatabaseSync(path);
  database.exec(`create table t (a blob, b integer, c integer); insert into t values (x'0102', 9007199254740993, 5)`);
  database.close();
  const source = await openSqlite(path);
  assert.deepEqual(await source.rows('select a, b, c from t where c = $1', [5]), [{ a: Buffer.from([1, 2]), b: '9007199254740993', c: 5 }]);
  assert.deepEqual([...(await source.columns('t'))], ['a', 'b', 'c']);
  assert.equal((await source.columns('none')).size, 0);
  await assert.rejects(source.rows('delete from t'), { name: 'SourceFault' });
  await source.close();
});

test('sqlite source: a view in place of a table counts as missing, because its rows may be endless', async () => {
  const path = join(scratch.folder, 'view.db');
  const database = new DatabaseSync(path);
  database.exec('create view t as with recursive c(x) as (select 1 union all select x + 1 from c) select x as id, x as value from c');
  database.close();
  const source = await openSqlite(path);
  assert.deepEqual([...(await source.columns('t'))], []);
  await assert.rejects(source.rows('select value from t order by id'), /no such table: t/);
  await source.close();
});

/** Makes a store whose rows cost much processor time: a generated column runs at each read. */
const slowStore = (rowsOfIt: number): string => {
  const path = scratch.newFile();
  const database = new DatabaseSync(path);
  const text = 'x'.repeat(50_000);
  database.exec(`create table t (id integer primary key, filling text, value integer generated always as
    (length(replace(replace(replace(replace(filling, 'x', 'yy'), 'yy', 'x'), 'x', 'yy'), 'y', 'x'))) virtual)`);
  const insert = database.prepare('insert into t (id, filling) values (?, ?)');
  for (let id = 1; id <= rowsOfIt; id += 1) insert.run(id, text);
  database.close();
  return path;
};

/** Measures the longest turn of the event loop, in milliseconds of processor time of this thread, which the load of the machine does not change. */
const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  const state = { longest: 0, running: true };
  const watching = (async () => {
    for (let before = process.threadCpuUsage(); state.running;) {
      await new Promise((done) => setTimeout(done, 1));
      const { user, system } = process.threadCpuUsage(before);
      before = process.threadCpuUsage();
      state.longest = Math.max(state.longest, (user + system) / 1_000);
    }
  })();
  await work().finally(() => (state.running = false));
  await watching;
  return state.longest;
};

/** Returns the least of up to three measurements: a collection of what earlier files left is no part of the work. */
const leastLongestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  let least = Infinity;
  for (let n = 0; n < 3 && least >= 50; n += 1) least = Math.min(least, await longestTurn(work));
  return least;
};

test('sqlite source: a query that works for seconds before its first row does not hold the event loop', async () => {
  const source = await openSqlite(slowStore(300));
  const before = process.cpuUsage();
  const own = process.threadCpuUsage();
  const longest = await leastLongestTurn(() => source.rows('select sum(value) as sum from t'));
  const all = process.cpuUsage(before);
  const here = process.threadCpuUsage(own);
  await source.close();
  const elsewhere = (all.user + all.system - here.user - here.system) / 1_000;
  assert.ok(elsewhere > 200, `the query takes long enough to be noticed: ${elsewhere} ms in its thread`);
  assert.ok(longest < 50, `a turn of the event loop took ${longest} ms of processor time`);
});

test('sqlite source: the rows of a large table are read in steps of a few milliseconds', async () => {
  const path = scratch.newFile();
  const database = new DatabaseSync(path);
  database.exec(`create table t (id integer primary key, value blob);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 40000) insert into t select x, randomblob(1000) from c`);
  database.close();
  const source = await openSqlite(path);
  let count = 0;
  const begun = process.threadCpuUsage();
  const longest = await leastLongestTurn(async () => {
    count = 0;
    for await (const { value } of source.stream<{ value: Buffer }>('select id, value from t')) count += value.length === 1_000 ? 1 : 0;
  });
  const { user, system } = process.threadCpuUsage(begun);
  const whole = (user + system) / 1_000;
  await source.close();
  assert.equal(count, 40_000);
  // On a busy machine a turn handles the messages of several steps. One step for all rows would take nearly the whole time.
  assert.ok(longest < Math.max(50, whole / 4), `a turn of the event loop took ${longest} of ${whole} ms of processor time`);
});

test('sqlite source: a query is cancelled at its time-out, and at once when its caller leaves', async () => {
  const slow = 'select sum(value) as sum from t';
  const path = slowStore(600);
  const bounded = await openSqlite(path, undefined, 100);
  await assert.rejects(bounded.rows(slow), { name: 'SourceFault', message: /a query takes longer than 0\.1 s$/ });
  await bounded.close();
  const gone = new AbortController();
  const source = await openSqlite(path, gone.signal);
  const reading = source.rows(slow);
  setTimeout(() => gone.abort(new Error('the caller is gone')), 50);
  await assert.rejects(reading, /the caller is gone/);
  await source.close();
  await assert.rejects(openSqlite(path, gone.signal), /the caller is gone/);
});

test('sqlite source: a value that is too large for any key is refused with a sentence', async () => {
  const path = scratch.newFile();
  const database = new DatabaseSync(path);
  database.exec('create table t (id integer, value blob generated always as (zeroblob(100000000)) virtual); insert into t values (1)');
  database.close();
  const source = await openSqlite(path);
  await assert.rejects(source.rows('select value from t'), { name: 'SourceFault', message: /string or blob too big/ });
  await source.close();
});

test('sqlite source: a stream that is left early releases the database', async () => {
  const path = scratch.newFile();
  filled(path, 'delete').close();
  const source = await openSqlite(path);
  for await (const _ of source.stream('select id from t')) break;
  assert.equal((await source.rows('select id from t')).length, rows);
  await source.close();
});
