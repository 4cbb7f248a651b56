/** Tests that the log of the embedded server stays short while the server runs. */
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { quietLog } from '#test/support/database.ts';
import { copyPreparedDatabase } from '#test/support/prepared-database.ts';
import { until } from '#test/support/until.ts';

test('embedded: a long log of the server is moved aside, and the server continues in the emptied file', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-server-log-'));
  copyPreparedDatabase(dataDir);
  const server = await EmbeddedServer.start({ dataDir, log: quietLog, settings: { fsync: 'off' }, logCheckMs: 20 });
  const file = join(dataDir, 'postgres', 'server.log');
  try {
    await appendFile(file, `${'before '.repeat(700_000)}\n`);
    await until(async () => (await stat(file)).size === 0, 'the log was emptied');
    assert.match(await readFile(`${file}.1`, 'utf8'), /before/);
    const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1 });
    await database.rows({ name: '', text: "do $$ begin raise warning 'behind the move'; end $$" }, []);
    await database.close();
    await until(async () => (await readFile(file, 'utf8')).includes('behind the move'), 'the server goes on');
    assert.ok((await stat(file)).size < 10_000);
  } finally {
    await server.close(true);
    await rm(dataDir, { recursive: true, force: true });
  }
});
