/** Tests that the embedded server requires its password, whatever the history of the data folder. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Log } from '#actors/ports.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { urlOf, verifierOf } from '#src/storage/postgres/server-password.ts';
import { quietLog } from '#test/support/database.ts';

const folder = await mkdtemp(join(tmpdir(), 'dormouse-password-'));
after(() => rm(folder, { recursive: true, force: true }));
const root = join(folder, 'postgres');
const [file, access] = [join(root, 'password'), join(root, 'data', 'pg_hba.conf')];
const socket = join(root, 'data');
const passwordOf = async (): Promise<string> => (await readFile(file, 'utf8')).trim();

const told: unknown[] = [];
const note = (...words: readonly unknown[]): void => void told.push(words);
const log: Log = { info: note, warn: note, debug: note, error: note };

const withServer = async (work: (server: EmbeddedServer) => Promise<void>): Promise<void> => {
  const server = await EmbeddedServer.start({ dataDir: folder, log, settings: { fsync: 'off' } });
  try {
    await work(server);
  } finally {
    await server.close(true);
  }
};
const asks = async (url: string): Promise<number> => {
  const database = await openDatabase({ url, log: quietLog, poolSize: 1 });
  try {
    return (await database.rows({ name: '', text: 'select 1' }, [])).length;
  } finally {
    await database.close();
  }
};
const isClosed = async (server: EmbeddedServer): Promise<void> => {
  assert.equal(await asks(server.url), 1);
  await assert.rejects(asks(urlOf(socket, '').replace(':@', '@')));
  await assert.rejects(asks(urlOf(socket, 'wrong')));
};

test('embedded: a connection without the password, or with a wrong one, is refused', () => withServer(isClosed));

test('embedded: the password is readable by its owner only, and appears in no log', async () => {
  const { mode, uid } = await stat(file);
  assert.deepEqual([mode & 0o777, uid], [0o600, process.getuid?.()]);
  const password = await passwordOf();
  assert.ok(password.length >= 43);
  const output = await readFile(join(root, 'server.log'), 'utf8');
  assert.ok(!`${output}${JSON.stringify(told)}`.includes(password));
});

test('embedded: a second start has the same password', async () => {
  const before = await passwordOf();
  await withServer(isClosed);
  assert.equal(await passwordOf(), before);
});

test('embedded: data of a version without a password gets one at the next start', async () => {
  await writeFile(access, '# "local" is for Unix domain socket connections only\nlocal   all   all   trust\n');
  await rm(file);
  await withServer(isClosed);
});

test('embedded: a start that was interrupted between the file and the server is continued', async () => {
  await writeFile(access, 'local all all trust\n');
  await withServer(isClosed);
});

test('embedded: a lost password is replaced', async () => {
  const before = await passwordOf();
  await rm(file);
  await withServer(isClosed);
  assert.notEqual(await passwordOf(), before);
});

test('embedded: two simultaneous starts use one password', async () => {
  await rm(file);
  await writeFile(access, 'local all all trust\n');
  const start = () => EmbeddedServer.start({ dataDir: folder, log: quietLog, settings: { fsync: 'off' } });
  const [one, two] = await Promise.all([start(), start()]);
  assert.equal(one.url, two.url);
  await isClosed(one);
  await two.close(false);
  await one.close(true);
});

test('embedded: the verifier is that of RFC 7677', () => {
  // The salted password of the example in section 3 of the RFC gives the stored key and the server key.
  const made = verifierOf('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'));
  assert.match(
    made,
    /^SCRAM-SHA-256\$4096:W22ZaJ0SNY7soEsUEjb6gQ==\$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=$/,
  );
});
