/** Tests errors that end a start. Each error names the fault and the setting, and contains no password. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openDataDir } from '#config/secrets.ts';
import { startError } from '#src/start-errors.ts';
import { shownAddress } from '#src/storage/postgres/shown-address.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { until } from '#test/support/until.ts';

const addresses: readonly (readonly [given: string, shown: string])[] = [
  ['postgres://shop:secret@db.example.com:5433/messages', 'postgres://shop@db.example.com:5433/messages'],
  ['postgresql://db.example.com/messages?password=secret&sslmode=require', 'postgresql://db.example.com/messages'],
  ['postgres:///messages?host=/run/postgresql&user=shop&password=secret', 'postgres://shop@/run/postgresql/messages'],
];
for (const [given, shown] of addresses) test(`address: ${given} is shown as ${shown}`, () => assert.equal(shownAddress(given), shown));

for (const [host, reason] of [
  ['127.0.0.1:9', 'ECONNREFUSED'],
  ['nothing.invalid', 'ENOTFOUND'],
] as const)
  test(`start: a database at ${host} is named with the setting and without the password`, async () => {
    const gateway = new GatewayProcess({
      platformUrl: 'ws://127.0.0.1:9',
      env: { DATABASE_URL: `postgres://shop:secret@${host}/messages` },
    });
    try {
      gateway.launch();
      const sentence = `Dormouse could not start: the database is not available: ${reason} (DATABASE_URL is postgres://shop@${host}/messages)`;
      await until(
        () => gateway.printed.includes(sentence),
        () => `${sentence}: ${gateway.printed}`,
      );
      assert.ok(!gateway.printed.includes('secret'));
    } finally {
      await gateway.close();
    }
  });

/** Runs `act` as a user without privileges, and then restores the privileges of root. */
const withoutRights = (act: () => void): void => {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.('nobody');
  try {
    act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
};

const folder = (t: TestContext): string => {
  const path = mkdtempSync(join(tmpdir(), 'dormouse-folder-'));
  chmodSync(path, 0o555);
  t.after(() => {
    chmodSync(path, 0o755);
    rmSync(path, { recursive: true });
  });
  return path;
};

const remedy = /give it to the user .+ \(mkdir -p, chown\), or set DATA_DIR to another folder$/;

test('data folder: the error for a folder that cannot be created names the folder and the remedy', (t) => {
  const path = join(folder(t), 'data');
  withoutRights(() =>
    assert.throws(() => openDataDir(path), {
      message: new RegExp(`^the data folder ${path} cannot be made or written \\(EACCES\\): ${remedy.source}`),
    }),
  );
});

test('data folder: the error for an existing folder without write access names the folder and the remedy', (t) => {
  const path = folder(t);
  withoutRights(() =>
    assert.throws(() => openDataDir(path), {
      message: new RegExp(`^the data folder ${path} cannot be made or written \\(EACCES\\): ${remedy.source}`),
    }),
  );
});

const startOf = async (env: Readonly<Record<string, string>>, check: (printed: string, dataDir: string) => void): Promise<void> => {
  const gateway = new GatewayProcess({ platformUrl: 'ws://127.0.0.1:9', fresh: true, env });
  try {
    gateway.launch();
    assert.equal(await gateway.endsWithin(120_000), 1);
    check(gateway.printed, gateway.dataDir);
  } finally {
    await gateway.close();
  }
};

for (const [host, sentence] of [
  ['nothing.invalid', /the name nothing\.invalid has no address \((?:ENOTFOUND|EAI_AGAIN)\): set HOST to an address of this machine/],
  ['192.0.2.1', /192\.0\.2\.1 is no address of this machine \(EADDRNOTAVAIL\): set HOST to one, such as 127\.0\.0\.1/],
] as const)
  test(`start: HOST=${host} is refused with the setting, before a database or a token is made`, () =>
    startOf({ HOST: host, ADMIN_TOKEN: '' }, (printed, dataDir) => {
      assert.match(printed, sentence);
      assert.doesNotMatch(printed, /Admin token/);
      assert.ok(!existsSync(join(dataDir, 'postgres')), 'no database was made');
    }));

test('start: a port in use is refused before a database or a token is created', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await startOf({ HOST: '127.0.0.1', PORT: String(port), ADMIN_TOKEN: '' }, (printed, dataDir) => {
    assert.match(printed, new RegExp(`^Dormouse could not start: port ${port} of 127.0.0.1 is taken: set PORT to a free one$`, 'm'));
    assert.ok(!existsSync(join(dataDir, 'postgres')), 'no database was made');
  });
  other.close();
});

test('start: a data folder in /proc is refused at once', { skip: process.platform !== 'linux' }, () =>
  startOf({ DATA_DIR: '/proc/dormouse/data' }, (printed) =>
    assert.match(printed, /the data folder \/proc\/dormouse\/data cannot be made or written \(\w+\): set DATA_DIR to another folder/),
  ),
);

test('start: the error for a full disk begins with the cause', () => {
  assert.equal(
    startError(new Error('The server could not make its folder: could not write: No space left on device')),
    'the disk is full. The server could not make its folder: could not write: No space left on device',
  );
  assert.equal(startError(Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' })), 'the disk is full. ENOSPC: write');
  assert.equal(startError(new Error('other')), 'other');
});

test('data folder: the error for a broken link names its target, and only missing permissions lead to the advice to use chown', (t) => {
  const path = join(tmpdir(), `dormouse-link-${process.pid}`);
  symlinkSync('/nowhere/data', path);
  t.after(() => rmSync(path));
  assert.throws(() => openDataDir(path), {
    message: /is a link to \/nowhere\/data, which is not there: make that folder, or set DATA_DIR/,
  });
  assert.throws(() => openDataDir(join(import.meta.filename, 'data')), {
    message: /is a file \(ENOTDIR\): set DATA_DIR to another folder$/,
  });
});

test('data folder: the error says if a file has the name of the folder', (t) => {
  const path = join(tmpdir(), `dormouse-file-${process.pid}`);
  writeFileSync(path, '');
  t.after(() => rmSync(path));
  assert.throws(() => openDataDir(path), { message: /\((?:EEXIST|ENOTDIR)\)/ });
});
