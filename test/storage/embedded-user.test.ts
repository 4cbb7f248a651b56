/** Tests that root and the server alone can read the data of the embedded server when root starts the gateway. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { ofAnotherUser } from '#src/storage/postgres/server-files.ts';
import { quietLog } from '#test/support/database.ts';

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const folder = await mkdtemp(join(tmpdir(), 'dormouse-embedded-user-'));
after(() => rm(folder, { recursive: true, force: true }));
const data = join(folder, 'postgres', 'data');
const start = () => EmbeddedServer.start({ dataDir: folder, log: quietLog, settings: { fsync: 'off' } });

const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
  .split('\n')
  .map((line) => line.split(':'))
  .flatMap(([name = '', , uid]) => (uid === undefined || uid === '0' ? [] : [{ name, uid: Number(uid) }]));

/** Returns the accounts that can read a file through the working folder of the server. */
const readers = async (): Promise<readonly string[]> => {
  const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
  return accounts
    .filter(({ uid }) => spawnSync('cat', [`/proc/${pid}/cwd/PG_VERSION`], { uid, gid: uid, cwd: '/' }).status === 0)
    .map(({ name }) => name);
};

test('embedded: the incomplete folder of a killed start is deleted by the next start', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const left = join(folder, 'postgres', `init-${pid}-abcdef`);
  const [underWay, strange] = [
    join(folder, 'postgres', `init-${process.pid}-abcdef`),
    join(folder, 'postgres', `init-${process.ppid}-abcdef`),
  ];
  for (const made of [left, underWay, strange]) await mkdir(join(made, 'base'), { recursive: true });
  const server = await start();
  await assert.rejects(stat(left), { code: 'ENOENT' });
  for (const made of [underWay, strange]) assert.ok((await stat(made)).isDirectory(), 'the folder of a start that is under way stays');
  await server.close(true);
  for (const made of [underWay, strange]) await rm(made, { recursive: true });
});

if (isRoot) {
  test('embedded: no account of the machine reads the data through /proc', async () => {
    const server = await start();
    assert.deepEqual(await readers(), []);
    await server.close(true);
  });

  test('embedded: data of a shared account gets its own owner at the next start', async () => {
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

  test('embedded: after an interrupted change of owner the data belongs to one user at the next start', async () => {
    const { uid } = await stat(data);
    spawnSync('chown', ['-R', '0:0', join(data, 'base'), join(data, 'global', 'pg_control')]);
    const server = await start();
    assert.equal(await ofAnotherUser(data, uid), null);
    await server.close(true);
  });

  test('embedded: a user without root rights gets the remedy for data of several owners', async () => {
    const mine = await mkdtemp(join(tmpdir(), 'dormouse-embedded-mixed-'));
    after(() => rm(mine, { recursive: true, force: true }));
    await writeFile(join(mine, 'PG_VERSION'), '18');
    await chown(mine, 65_534, 65_534);
    const code = `import('${import.meta.resolve('#src/storage/postgres/server-files.ts')}').then((m) => m.checkOwner('${mine}')).catch((e) => console.log(e.message))`;
    const asNobody = spawnSync(process.execPath, ['-e', `process.setgid(65534); process.setuid(65534); ${code}`], { encoding: 'utf8' });
    assert.equal(
      asNobody.stdout.trim(),
      `${join(mine, 'PG_VERSION')} belongs to the user 0. As root, run: chown -hR 65534:65534 '${mine}'`,
      asNobody.stderr,
    );
  });
} else
  test('embedded: started by a user, the server runs as that user', async () => {
    const server = await start();
    assert.equal((await stat(data)).uid, process.getuid?.());
    await server.close(true);
  });
