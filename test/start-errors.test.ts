/** Errors that end a start name what is wrong, the setting, and no password. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openDataDir } from '#config/secrets.ts';
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

/** Runs `act` as a user without rights, and puts the rights of root back. */
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

test('data folder: one that cannot be made is named with the remedy', (t) => {
  const path = join(folder(t), 'data');
  withoutRights(() =>
    assert.throws(() => openDataDir(path), {
      message: new RegExp(`^the data folder ${path} cannot be made or written \\(EACCES\\): ${remedy.source}`),
    }),
  );
});

test('data folder: one that is there and cannot be written is named with the remedy', (t) => {
  const path = folder(t);
  withoutRights(() =>
    assert.throws(() => openDataDir(path), {
      message: new RegExp(`^the data folder ${path} cannot be made or written \\(EACCES\\): ${remedy.source}`),
    }),
  );
});

test('data folder: a file in its place is named', (t) => {
  const path = join(tmpdir(), `dormouse-file-${process.pid}`);
  writeFileSync(path, '');
  t.after(() => rmSync(path));
  assert.throws(() => openDataDir(path), { message: /\((?:EEXIST|ENOTDIR)\)/ });
});
