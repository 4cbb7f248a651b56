/** Kills a gateway during an import. Each session is imported completely or not at all, and the same import finishes the work. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { launchCommand, runCommand } from '#test/support/commands.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const sessions = 40;
const kills = 3;
const folder = temporaryFolder();
const source = join(folder, 'sessions');
const gateway = new GatewayProcess({});
/** The expected number of keys of each session, by the name of its instance. */
const expected = new Map<string, number>();
before(async () => {
  for (let at = 0; at < sessions; at += 1) {
    const name = `s${String(at).padStart(2, '0')}`;
    const keys = await writeMadeSession(join(source, name), {
      number: `55119111300${String(at).padStart(2, '0')}`,
      preKeys: 700 + at,
      people: 20,
    });
    // The import adds one key, the note about runs of the source. These sessions have no app-state keys to add.
    expected.set(name, keys + 1);
  }
  await gateway.start();
});
after(async () => {
  await gateway.close();
  await removeFolder(folder);
});

interface Stored {
  readonly name: string;
  readonly paired: boolean;
  readonly credentials: number;
  readonly keys: number;
}

const text = `select name, jid <> '' as paired, (select count(*)::int from credential c where c.instance_id = i.id) as credentials,
  (select count(*)::int from signal_key k where k.instance_id = i.id) as keys from instance i where not removed order by name`;

const run = (statement: string) => inEmbedded(gateway.dataDir, (database) => database.rows({ name: '', text: statement }, []));
const stored = (): Promise<readonly Stored[]> => inEmbedded(gateway.dataDir, (database) => database.rows<Stored>({ name: '', text }, []));

const wholeNames = (rows: readonly Stored[]): readonly string[] =>
  rows.filter(({ credentials }) => credentials === 1).map(({ name }) => name);

const assertWholeOrAbsent = (rows: readonly Stored[]): void => {
  for (const { name, paired, credentials, keys } of rows) {
    if (credentials === 0) assert.deepEqual([name, paired, keys], [name, false, 0]);
    else assert.deepEqual([name, paired, keys], [name, true, expected.get(name)]);
  }
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length, 'no session has two instances');
};

test('import: after each kill a session is complete or absent, and the same import adds the missing sessions', async (t) => {
  const reached: number[] = [];
  // A trigger slows the import of each session, so the kill comes before the last session.
  const hold = [
    'create function hold() returns trigger language plpgsql as $$ begin perform pg_sleep(0.1); return null; end $$',
    'create trigger hold after insert on credential for each statement execute function hold()',
  ];
  for (const statement of hold) await run(statement);
  for (let round = 0; round < kills; round += 1) {
    const before = wholeNames(await stored()).length;
    const { ended } = launchCommand(gateway, 'import.ts', ['--from', 'folder', '--path', source]);
    // The kill comes after the first sessions, and at a different moment each time.
    for (const deadline = Date.now() + 120_000; Date.now() < deadline; await wait(5)) if (wholeNames(await stored()).length > before) break;
    await wait(30 + 60 * round);
    await gateway.end('SIGKILL');
    const { code, output } = await ended;
    await gateway.start();
    const rows = await stored();
    assertWholeOrAbsent(rows);
    reached.push(wholeNames(rows).length);
    if (code === 0) break;
    assert.match(output, /has gone|No gateway answers/);
  }
  assert.ok((reached[0] ?? 0) > 0 && (reached[0] ?? 0) < sessions, `the first kill came in the middle: ${reached.join(', ')}`);
  await run('drop trigger hold on credential');
  const ran = await runCommand(gateway, 'import.ts', ['--from', 'folder', '--path', source]);
  assert.equal(ran.code, 0, ran.output);
  const all = await stored();
  assert.deepEqual(wholeNames(all), [...expected.keys()]);
  assertWholeOrAbsent(all);
  const again = await runCommand(gateway, 'import.ts', ['--from', 'folder', '--path', source]);
  assert.match(again.output, new RegExp(`${sessions} already here`));
  assert.deepEqual(await stored(), all);
  t.diagnostic(`whole after each kill: ${reached.join(', ')} of ${sessions}`);
});
