/** Tests that root and the server alone can read the data of the embedded server when root starts the gateway. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chown, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startEmbedded } from '#src/storage/postgres/embedded.ts';
import { quietLog } from '#test/support/database.ts';

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const folder = await mkdtemp(join(tmpdir(), 'dormouse-embedded-user-'));
after(() => rm(folder, { recursive: true, force: true }));
const data = join(folder, 'postgres', 'data');
const start = () => startEmbedded({ dataDir: folder, log: quietLog, settings: { fsync: 'off' } });

const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
  .split('\n')
  .map((line) => line.split(':'))
  .flatMap(([name = '', , uid]) => (uid === undefined || uid === '0' ? [] : [{ name, uid: Number(uid) }]));

/** Returns the accounts that can read something behind the working folder of the server. */
const readers = async (): Promise<readonly string[]> => {
  const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
  return accounts
    .filter(({ uid }) => spawnSync('cat', [`/proc/${pid}/cwd/PG_VERSION`], { uid, gid: uid, cwd: '/' }).status === 0)
    .map(({ name }) => name);
};

if (isRoot) {
  test('embedded: no account of the machine reads the data through /proc', async () => {
    const server = await start();
    assert.deepEqual(await readers(), []);
    await server.close(true);
  });

  test('embedded: data of a shared account gets an owner of its own with the next start', async () => {
    const nobody = accounts.find(({ name }) => name === 'nobody');
    assert.ok(nobody);
    spawnSync('chown', ['-R', `${nobody.uid}:${nobody.uid}`, data]);
    await chown(data, nobody.uid, nobody.uid);
    const server = await start();
    assert.deepEqual(await readers(), []);
    const { uid, mode } = await stat(data);
    assert.ok(!accounts.some((one) => one.uid === uid), `${uid} has a name`);
    assert.equal(mode & 0o077, 0);
    await server.close(true);
  });
} else
  test('embedded: started by a user, the server runs as that user', async () => {
    const server = await start();
    assert.equal((await stat(data)).uid, process.getuid?.());
    await server.close(true);
  });
