/** Tests the embedded server through crashes of the gateway, the server and both, and in unusual folders. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { EmbeddedServer, openStorage, type Storage } from '#src/storage/open.ts';
import { instance, message, owner } from '#test/contract/samples.ts';
import { quietLog } from '#test/support/database.ts';
import { held, unwritten, writeLog } from '#test/support/recovery.ts';

const folder = await mkdtemp(join(tmpdir(), 'dormouse-embedded-'));
const settings = { fsync: 'off' };
const storages = new Set<Storage>();
after(async () => {
  for (const storage of storages) await storage.close();
  await rm(folder, { recursive: true, force: true });
});

const dataDir = join(folder, 'first');
const open = async (directory = dataDir): Promise<Storage> => {
  const storage = await openStorage({ databaseUrl: null, dataDir: directory, encryptionKey: Buffer.alloc(32, 7), log: quietLog, settings });
  storages.add(storage);
  return storage;
};
const pidFile = (directory = dataDir): string => join(directory, 'postgres', 'data', 'postmaster.pid');
const pidOf = async (directory = dataDir): Promise<number> => Number((await readFile(pidFile(directory), 'utf8')).split('\n')[0]);
const running = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const deadline = Date.now() + 60_000; !(await condition()); await wait(20)) assert.ok(Date.now() < deadline, 'waited too long');
};

test('embedded: the first start creates a server, a stop in order ends it, and the next start finds the data', async () => {
  const storage = await open();
  await storage.instances.insert(instance.record);
  const pid = await pidOf();
  assert.ok(running(pid));
  await storage.close();
  await storage.close();
  assert.equal(running(pid), false);
  const again = await open();
  assert.deepEqual(await again.instances.all(), [instance.record]);
  await again.close();
});

test('embedded: a server that outlived a killed gateway is adopted, not started twice', async () => {
  const script = `import { EmbeddedServer } from '#src/storage/open.ts';
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    await EmbeddedServer.start({ dataDir: process.argv[1], log, settings: { fsync: 'off' } });
    process.stdout.write('up');
    setInterval(() => {}, 1000);`;
  const root = join(import.meta.dirname, '..', '..');
  const gateway = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => gateway.stdout.once('data', resolve));
  gateway.kill('SIGKILL');
  const pid = await pidOf();
  const storage = await open();
  assert.equal(await pidOf(), pid);
  assert.equal((await storage.instances.all()).length, 1);
  await storage.close();
  assert.equal(running(pid), false);
});

test('embedded: a server that another gateway uses is left running', async () => {
  const [one, two] = [await open(), await open()];
  const pid = await pidOf();
  await two.settings.get('x');
  await one.close();
  assert.ok(running(pid));
  await two.close();
  assert.equal(running(pid), false);
});

test('embedded: a server that dies is restarted, and requests fail at once until then', async () => {
  const storage = await open();
  const entry = { kind: 'message', message, chat: { chatId: message.chatId }, unread: true } as const;
  await storage.journal.commit({ id: instance.record.id, owner, epoch: 1 }, [entry], () => []);
  const dead = await pidOf();
  process.kill(dead, 'SIGKILL');
  const failures: { readonly name: string; readonly ms: number }[] = [];
  await until(async () => {
    const started = Date.now();
    const note = (error: Error) => failures.push({ name: error.name, ms: Date.now() - started });
    const answers = [storage.settings.get('x').catch(note), storage.messages.byId(instance.record.id, message.messageId).catch(note)];
    const worked = (await Promise.all(answers)).every((answer) => typeof answer !== 'number');
    return worked && failures.length > 0 && (await pidOf()) !== dead;
  });
  assert.ok(failures.length > 0);
  for (const { name, ms } of failures) {
    assert.equal(name, 'StorageUnavailable');
    assert.ok(ms < 30_000, `${ms} ms`);
  }
  assert.equal((await storage.messages.byId(instance.record.id, message.messageId))?.messageId, message.messageId);
  await storage.close();
});

test('embedded: a server that is stopped from outside does not wait for its clients, and is restarted', async () => {
  const storage = await open();
  await storage.settings.set('stopped', 'yes');
  const asked = await pidOf();
  const busy = setInterval(() => void storage.settings.get('stopped').catch(() => null), 50);
  try {
    process.kill(asked, 'SIGTERM');
    await until(() => !running(asked));
    await until(async () => (await storage.settings.get('stopped').catch(() => null)) === 'yes' && (await pidOf()) !== asked);
  } finally {
    clearInterval(busy);
    await storage.close();
  }
});

test('embedded: every store throws StorageUnavailable while there is no server', async () => {
  const directory = join(folder, 'unavailable');
  const server = await EmbeddedServer.start({ dataDir: directory, log: quietLog, settings });
  const storage = await openStorage({ databaseUrl: server.url, dataDir: directory, encryptionKey: Buffer.alloc(32, 7), log: quietLog });
  storages.add(storage);
  const { id } = instance.record;
  await storage.instances.insert(instance.record);
  await server.close(true);
  const works: readonly (() => Promise<unknown>)[] = [
    () => storage.instances.all(),
    () => storage.instances.update(id, 1, { name: 'x' }),
    () => storage.webhooks.all(),
    () => storage.settings.set('a', 'b'),
    () => storage.journal.commit({ id, owner, epoch: 1 }, [{ kind: 'chatRead', chatId: 'a' }], () => []),
    () => storage.messages.find(id, { limit: 1, offset: 0 }),
    () => storage.chats.stats(id),
    () => storage.outbox.pending(),
    () => storage.vault.write(id, 1, { keys: [] }),
    () => storage.vault.discard(id, 1, 'delete', ''),
    () => storage.vault.credentials(id),
  ];
  for (const work of works) await assert.rejects(work, { name: 'StorageUnavailable' });
  assert.equal(storage.healthy(), false);
  const revived = await EmbeddedServer.start({ dataDir: directory, log: quietLog, settings });
  await until(() => storage.healthy());
  assert.deepEqual(await storage.instances.all(), [instance.record]);
  await storage.close();
  await revived.close(true);
});

test('embedded: a stale process id that now belongs to another program counts as no server', async () => {
  const storage = await open();
  const pid = await pidOf();
  const lines = (await readFile(pidFile(), 'utf8')).split('\n');
  await storage.close();
  await writeFile(pidFile(), [String(process.pid), ...lines.slice(1)].join('\n'));
  await writeFile(join(pidFile(), '..', '.s.PGSQL.5432.lock'), `${process.pid}\n`);
  const again = await open();
  assert.notEqual(await pidOf(), process.pid);
  assert.notEqual(await pidOf(), pid);
  await again.close();
});

for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
  test(`embedded: an empty ${name}, which a server leaves that dies while it makes the file, is in nobody's way`, async () => {
    await writeFile(join(pidFile(), '..', name), '');
    const storage = await open();
    assert.equal((await storage.instances.all()).length, 1);
    await storage.close();
  });

test('embedded: two simultaneous starts share one server and one set of tables', async () => {
  const directory = join(folder, 'twins');
  const [one, two] = await Promise.all([open(directory), open(directory)]);
  await one.settings.set('from', 'one');
  assert.equal(await two.settings.get('from'), 'one');
  const names = await readdir(join(directory, 'postgres'));
  assert.deepEqual(names.toSorted(), ['data', 'password', 'server.log']);
  await Promise.all([one.close(), two.close()]);
  await until(() =>
    readFile(pidFile(directory)).then(
      () => false,
      () => true,
    ),
  );
});

test('embedded: a long path with spaces inside a closed folder works', async () => {
  const closed = join(folder, 'closed home');
  await mkdir(closed);
  await chmod(closed, 0o700);
  const storage = await open(join(closed, 'ü'.repeat(60), 'data folder'));
  await storage.settings.set('a', 'b');
  assert.equal(await storage.settings.get('a'), 'b');
  await storage.close();
});

test('embedded: a server whose recovery takes longer than the time-out of a start is waited for', async () => {
  const directory = join(folder, 'recovering');
  const options = { dataDir: directory, log: quietLog, settings: unwritten };
  const first = await EmbeddedServer.start(options);
  await writeLog(first.url);
  const killed = await pidOf(directory);
  await first.close(false);
  process.kill(killed, 'SIGKILL');
  await until(() => !running(killed));
  let told = 0;
  const starting = EmbeddedServer.start({ ...options, startDeadlineMs: 2_000, onRecovering: () => (told += 1) });
  const recovering = await held(directory, killed);
  const outcome = await Promise.race([starting.then(() => 'up', String), wait(6_000, 'waits')]);
  process.kill(recovering, 'SIGCONT');
  assert.equal(outcome, 'waits');
  assert.ok(told >= 2, `${told}`);
  const second = await starting;
  assert.equal(await pidOf(directory), recovering);
  await second.close(true);
});

test('embedded: a folder of another version, or with other content, is refused with a sentence', async () => {
  const version = join(folder, 'version');
  await mkdir(join(version, 'postgres', 'data'), { recursive: true });
  await writeFile(join(version, 'postgres', 'data', 'PG_VERSION'), '12\n');
  await assert.rejects(open(version), /was made by PostgreSQL 12, this is 18/);
  const other = join(folder, 'other');
  await mkdir(join(other, 'postgres', 'data'), { recursive: true });
  await writeFile(join(other, 'postgres', 'data', 'notes.txt'), 'x');
  await assert.rejects(open(other), /is not a data folder of PostgreSQL/);
});

const silent = createServer();
const silentPort = await new Promise<number>((resolve) =>
  silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port)),
);
after(() => silent.close());

for (const [title, port] of [
  ['cannot be reached', 1],
  ['takes connections and says nothing', silentPort],
] as const) {
  test(`storage: a database that ${title} ends the start within seconds`, async () => {
    const started = Date.now();
    const options = { dataDir: folder, encryptionKey: Buffer.alloc(32), log: quietLog };
    await assert.rejects(openStorage({ ...options, databaseUrl: `postgresql://nobody:secret@127.0.0.1:${port}/x` }), (error: Error) => {
      assert.equal(error.name, 'StorageUnavailable');
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
    assert.ok(Date.now() - started < 60_000);
  });
}
