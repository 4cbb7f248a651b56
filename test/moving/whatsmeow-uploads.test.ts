/** Tests uploads of whatsmeow stores: a single file, or several in an archive. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createSources } from '#src/moving/sources.ts';
import { madeDevice } from '#test/support/whatsmeow/made.ts';
import { openTestFolder, storeOf } from '#test/support/whatsmeow/reading.ts';
import { sqliteTarget } from '#test/support/whatsmeow/writer.ts';

const scratch = await openTestFolder();
const sources = createSources({ newPath: () => scratch.newFile(), maxBytes: 16 << 20 });
const ana = '5511999990081:3@s.whatsapp.net';

const found = async (bytes: Uint8Array, from: string): Promise<readonly string[]> => {
  const upload = (async function* () {
    yield bytes;
  })();
  const result = await sources.receive(upload, { from, secret: '', signal: AbortSignal.timeout(60_000) });
  assert.ok(result.ok, JSON.stringify(result));
  return Array.fromAsync(result.value, (arrival) =>
    arrival.found === 'session' ? `${arrival.session.name} ${arrival.session.identity.owner}` : `${arrival.name}: ${arrival.reason}`,
  );
};

test('upload of whatsmeow: a database file, also a compressed one, is its devices', async () => {
  const bytes = await readFile(await storeOf(scratch.newFile(), [madeDevice(ana)]));
  for (const from of ['whatsmeow', 'waha-gows', 'multidevice']) {
    assert.deepEqual(await found(bytes, from), ['5511999990081 5511999990081'], from);
    assert.deepEqual(await found(gzipSync(bytes), from), ['5511999990081 5511999990081'], from);
  }
});

test('upload of wuzapi: an archive with both databases is read, and a single one is refused with a sentence', async () => {
  const folder = await scratch.newFolder();
  await storeOf(join(folder, 'main.db'), [madeDevice(ana)]);
  const users = sqliteTarget(join(folder, 'users.db'));
  await users.run('create table users (id text primary key, name text, token text, jid text)');
  await users.run('insert into users values ($1, $2, $3, $4)', ['1', 'shop', 'the token of the shop', ana]);
  await users.close();
  const tar = execFileSync('tar', ['-C', folder, '-cf', '-', 'main.db', 'users.db'], { maxBuffer: 1 << 26 });
  assert.deepEqual(await found(tar, 'wuzapi'), ['shop 5511999990081']);
  const alone = execFileSync('tar', ['-C', folder, '-cf', '-', 'main.db'], { maxBuffer: 1 << 26 });
  await assert.rejects(found(alone, 'wuzapi'), { name: 'SourceProblem', message: /^users\.db, .* is missing beside main\.db$/ });
});
