/** Tests folders of the bare library that change while they are read, and folders that two exports write at once. */
import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { keysInFolder, writeFolder } from '#src/moving/readers/folder.ts';
import { type FoundSession, noSettings, type SessionKey, SourceFault } from '#src/moving/session.ts';
import { madeCreds, writeMadeSession } from '#test/support/made-sessions.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
after(() => removeFolder(folder));

/** Reads the keys of a generated session. Removes files after the first key. Returns the ids of the keys. */
const keysWithout = async (name: string, removed: readonly string[]): Promise<readonly string[]> => {
  const path = join(folder, name);
  await writeMadeSession(path, { number: '5511911110001', preKeys: 4 });
  const ids: string[] = [];
  for await (const { id } of keysInFolder(path, new AbortController().signal)) {
    ids.push(id);
    for (const file of removed) await rm(join(path, file), { force: true });
  }
  return ids.toSorted();
};

test('folder: a key that the library removes during the read is left out', async () => {
  const ids = await keysWithout('used', ['pre-key-1.json', 'pre-key-2.json', 'pre-key-3.json', 'pre-key-4.json']);
  assert.equal(ids.length, 1);
});

test('folder: a session that is removed during the read is refused', async () => {
  const all = ['creds', ...[1, 2, 3, 4].map((id) => `pre-key-${id}`)].map((file) => `${file}.json`);
  await assert.rejects(keysWithout('removed', all), { code: 'ENOENT' });
});

test('folder: of two exports of a session at once, the second to end is refused, and leaves no unfinished folder', async () => {
  const into = join(folder, 'out');
  const [reached, released] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const session = (keys: FoundSession['keys']): FoundSession => ({
    found: 'session',
    name: 'shop',
    creds: madeCreds('5511911110001'),
    keys,
    settings: noSettings,
    state: 'stopped',
    notes: [],
  });
  const key = (id: string): SessionKey => ({ type: 'pre-key', id, value: { public: Buffer.alloc(32), private: Buffer.alloc(32) } });
  const slow = writeFolder(
    session(async function* () {
      yield key('1');
      reached.resolve(null);
      await released.promise;
      yield key('2');
    }),
    into,
    new Set(),
  );
  await reached.promise;
  await writeFolder(
    session(async function* () {
      yield key('3');
    }),
    into,
    new Set(),
  );
  released.resolve(null);
  await assert.rejects(slow, (error) => error instanceof SourceFault && error.message.endsWith('shop is there already'));
  assert.deepEqual([await readdir(into), (await readdir(join(into, 'shop'))).toSorted()], [['shop'], ['creds.json', 'pre-key-3.json']]);
});
