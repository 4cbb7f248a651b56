/** Tests migrations beside working nodes: short waits for locks, concurrent index builds, killed starts, and forbidden changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Migration } from '@mikro-orm/migrations';
import { ConcurrentIndexes } from '#src/storage/migrations/concurrent.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import type { ListedMigration } from '#src/storage/migrations/step.ts';
import { migrate, type MigrationProgress } from '#src/storage/open.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';
import { migrationStatements, releasedSteps } from '#test/support/upgrade.ts';

const database = await testDatabase({ isEmpty: true });
await migrate(database.url, quietLog);
const run = (text: string) => database.admin.rows<Record<string, unknown>>({ name: '', text }, []);
await run('create table large (id int primary key, text text)');
await run(`insert into large select n, md5(n::text) from generate_series(1, 200000) as n`);

class AddColumn extends Migration {
  override up(): void {
    this.addSql(`alter table large add column extra text not null default ''`);
  }
}
class AddIndex extends ConcurrentIndexes {
  protected override readonly indexes = ['large_text on large (text)'];
}
class Second extends Migration {
  override up(): void {
    this.addSql('create table second (id int)');
  }
}

const withSteps = (...steps: readonly ListedMigration[]) => ({ steps: [...migrations, ...steps] });

/** Runs statements of other clients during the work. Returns the longest wait of one, in milliseconds. */
const longestWait = async (work: Promise<unknown>): Promise<number> => {
  const state = { over: false, longest: 0 };
  const others = (async () => {
    for (let n = 1; !state.over; n += 1) {
      const begun = performance.now();
      await run(`update large set text = text where id = ${n}`);
      state.longest = Math.max(state.longest, performance.now() - begun);
      await wait(20);
    }
  })();
  await work.finally(() => (state.over = true));
  await others;
  return state.longest;
};

test('migrating: a migration that waits for the lock of a backup lets others write, and runs when the lock is free', async (t) => {
  const patient = await openDatabase({ url: database.url, log: quietLog, poolSize: 1, limits: { statement: 60_000, connection: 10_000 } });
  t.after(() => patient.close());
  const waits: string[] = [];
  const log = { ...quietLog, warn: (_: object, event: string) => void waits.push(event) };
  const backup = patient.transaction(async (runner) => {
    await runner.rows({ name: '', text: 'select 1 from large limit 1' }, []);
    await runner.rows({ name: '', text: 'select pg_sleep(8)' }, []);
  });
  await until(
    async () => (await run(`select 1 from pg_locks where relation = 'large'::regclass and granted`)).length > 0,
    'the backup has its lock',
  );
  const longest = await longestWait(migrate(database.url, log, withSteps({ name: '9001-add-column', class: AddColumn })));
  await backup;
  t.diagnostic(`longest wait of a write: ${Math.round(longest)} ms`);
  // A write behind the whole backup waits for nearly 8 s, and a migration gives up its place after 2 s.
  assert.ok(longest < 6_000, `${longest} ms`);
  assert.ok(waits.includes('storage.migrationWaits'));
  assert.equal((await run(`select extra from large where id = 1`))[0]?.['extra'], '');
});

test('migrating: an index is built while others write, and the log reports the build', async () => {
  const told: MigrationProgress[] = [];
  const options = withSteps({ name: '9001-add-column', class: AddColumn }, { name: '9002-add-index', class: AddIndex });
  await longestWait(migrate(database.url, quietLog, { ...options, onProgress: (one) => void told.push(one) }));
  assert.deepEqual(told[0], { name: '9002-add-index', number: 1, of: 1, percent: null });
  assert.deepEqual(await run(`select indisvalid as valid from pg_index where indexrelid = 'large_text'::regclass`), [{ valid: true }]);
});

/** A function that makes a build on the large table take at least two seconds on any machine. */
const slowly = `create function slowly(id int, text text) returns text immutable language plpgsql as
  $$begin if id % 1000 = 0 then perform pg_sleep(0.01); end if; return text; end$$`;
class AddSlowIndex extends ConcurrentIndexes {
  protected override readonly indexes = ['large_slowly on large (slowly(id, text))'];
}

test('migrating: the progress of an index build is logged each second', async () => {
  await run(slowly);
  const told: MigrationProgress[] = [];
  const options = withSteps(
    { name: '9001-add-column', class: AddColumn },
    { name: '9002-add-index', class: AddIndex },
    { name: '9002-add-slow-index', class: AddSlowIndex },
  );
  await migrate(database.url, quietLog, { ...options, onProgress: (one) => void told.push(one) });
  const percents = told.flatMap(({ name, percent }) => (name === '9002-add-slow-index' && percent !== null ? [percent] : []));
  assert.ok(percents.length > 0, JSON.stringify(told));
  assert.ok(
    percents.some((percent) => percent > 0 && percent <= 100),
    percents.join(),
  );
  await run('drop index large_slowly');
  await run(`delete from mikro_orm_migrations where name = '9002-add-slow-index'`);
});

test('migrating: an index that a killed start left incomplete is built again, and finished steps are not repeated', async () => {
  await run('drop index large_text');
  await run(`delete from mikro_orm_migrations where name = '9002-add-index'`);
  await run('update large set text = $$same$$ where id < 3');
  // A failed build leaves the same state as a killed one.
  await assert.rejects(run('create unique index concurrently large_text on large (text)'));
  assert.deepEqual(await run(`select indisvalid as valid from pg_index where indexrelid = 'large_text'::regclass`), [{ valid: false }]);
  const steps = [
    { name: '9001-add-column', class: AddColumn },
    { name: '9002-add-index', class: AddIndex },
    { name: '9003-second', class: Second },
  ];
  await migrate(database.url, quietLog, withSteps(...steps));
  assert.deepEqual(await run(`select indisvalid as valid, indisunique as unique from pg_index where indexrelid = 'large_text'::regclass`), [
    { valid: true, unique: false },
  ]);
});

test('migrating: each migration is recorded when it is done, so a failure affects only its own migration', async () => {
  class Third extends Migration {
    override up(): void {
      this.addSql('create table third (id int)');
    }
  }
  class Bad extends Migration {
    override up(): void {
      this.addSql('create table third (id int)');
    }
  }
  const before = [
    { name: '9001-add-column', class: AddColumn },
    { name: '9002-add-index', class: AddIndex },
    { name: '9003-second', class: Second },
    { name: '9004-third', class: Third },
  ];
  await assert.rejects(migrate(database.url, quietLog, withSteps(...before, { name: '9005-bad', class: Bad })), /42P07/);
  assert.deepEqual((await run(`select name from mikro_orm_migrations where name >= '9004' order by name`)).length, 1);
  await migrate(database.url, quietLog, withSteps(...before));
});

/* ---------- what a migration may not do ---------- */

const released = new Set(releasedSteps.map(({ name }) => name));

/** Tables that grow with traffic to millions of rows in a year. */
const bigTables =
  'message|receipt|chat|contact|chat_group|signal_key|inbound|outbox|archive|send_key|number_lookup|picture|file|campaign_recipient|chatwoot_message';
const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a plain index; extend ConcurrentIndexes', new RegExp(`create (unique )?index (?!concurrently)[^(]* on "?(${bigTables})"? `, 'i')],
  ['a new type, which rewrites the table', new RegExp(`alter table "?(${bigTables})"? .*alter (column )?\\S+ (set data )?type`, 'is')],
  [
    'a default that is computed, which rewrites the table',
    new RegExp(`alter table "?(${bigTables})"? .*add (column )?.*default [^,]*\\(`, 'is'),
  ],
  ['a stored generated column, which rewrites the table', new RegExp(`alter table "?(${bigTables})"? .*generated .*stored`, 'is')],
  [
    'a rule that is checked at once; add it as not valid',
    new RegExp(`alter table "?(${bigTables})"? .*(add constraint|set not null)(?!.*not valid)`, 'is'),
  ],
  ['a change of all rows', new RegExp(`^\\s*(with .*)?(update|delete from) "?(${bigTables})"?\\s`, 'is')],
  ['a rewrite', /\b(cluster|vacuum full|reindex (?!.*concurrently))\b/i],
];

const breaksOf = (step: ListedMigration): readonly string[] =>
  migrationStatements(step).flatMap((query) =>
    forbidden.filter(([, pattern]) => pattern.test(query)).map(([what]) => `${step.name}: ${what}: ${query}`),
  );

test('migrating: no new migration rewrites a large table or holds a lock on it for long', () =>
  assert.deepEqual(
    migrations.filter(({ name }) => !released.has(name)).flatMap((step) => breaksOf(step)),
    [],
  ));

for (const [query, isForbidden] of [
  ['create index a on message (id)', true],
  ['create index concurrently if not exists a on message (id)', false],
  ['create unique index a on "outbox" (id)', true],
  ['create index a on node (id)', false],
  ['alter table message alter column seq type bigint', true],
  ['alter table message add column a text null', false],
  [`alter table message add column a text not null default ''`, false],
  ['alter table message add column a uuid default gen_random_uuid()', true],
  ['alter table chat alter column name set not null', true],
  ['alter table chat add constraint a check (id > 0) not valid', false],
  [`update message set text = ''`, true],
  [`update setting set value = ''`, false],
  ['vacuum full message', true],
] as const)
  test(`migrating: ${isForbidden ? 'forbidden' : 'allowed'} is ${query}`, () => {
    class Step extends Migration {
      override up(): void {
        this.addSql(query);
      }
    }
    assert.equal(breaksOf({ name: 'x', class: Step }).length > 0, isForbidden);
  });
