/** Tests that an interrupted start, and a start with unknown arguments, leave nothing behind. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ofAnotherUser } from '#src/storage/postgres/server-files.ts';
import { root } from '#test/source-tree.ts';
import { adminToken, GatewayProcess } from '#test/support/gateway.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { until } from '#test/support/until.ts';

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`start: ${signal} while the database has just been started ends both`, async () => {
    const gateway = new GatewayProcess({ platformUrl: 'ws://127.0.0.1:9/', fresh: true, env: { LOG_LEVEL: 'debug' } });
    try {
      gateway.launch();
      await until(() => gateway.printed.includes('storage.serverStarted'), 'the start of the database');
      assert.equal(await gateway.end(signal), 0, gateway.printed);
      assert.deepEqual(gateway.databases, []);
    } finally {
      await gateway.close();
    }
  });
}

/** Delays in milliseconds after a line of the log. The progress in between is not visible from outside, so several delays are tried. */
const moments: readonly (readonly [line: string, ms: number])[] = [
  ['', 1_000],
  ['', 3_000],
  ['storage.serverStarted', 0],
  ['storage.serverStarted', 300],
  ['storage.serverStarted', 600],
  ['storage.serverStarted', 1_000],
  ['storage.serverStarted', 2_000],
];

for (const [line, ms] of moments)
  test(`start: SIGINT ${ms} ms after ${line || 'the first'} ends a first start quietly and soon`, async () => {
    const gateway = new GatewayProcess({ platformUrl: 'ws://127.0.0.1:9/', fresh: true, env: { ADMIN_TOKEN: '', LOG_LEVEL: 'debug' } });
    try {
      gateway.launch();
      await until(() => gateway.printed.includes(line), line);
      await wait(ms);
      const began = performance.now();
      const end = await gateway.end('SIGINT');
      // Before Node runs the program, the signal itself ends the process.
      if (end === 'SIGINT') return;
      assert.equal(end, 0, gateway.printed);
      // A busy machine is slow. The log shows that the start was not finished first.
      assert.ok(performance.now() - began < 40_000, 'the stop does not wait for a time-out');
      const { printed } = gateway;
      assert.doesNotMatch(printed, /"level":50|ERROR|\n {4}at /, printed);
      assert.doesNotMatch(printed.slice(printed.indexOf('service.stopping')), /service\.started|Dashboard:/, printed);
      assert.deepEqual(gateway.databases, []);
    } finally {
      await gateway.close();
    }
  });

const initFolder = (root: string): string | undefined => {
  try {
    return readdirSync(root).find((name) => name.startsWith('init-'));
  } catch {
    return undefined;
  }
};

/** Returns the owner of the folder whose owners `chown` changes; 0 before that. */
const ownerOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.uid ?? 0;

/** Starts a gateway on a new data folder, and ends it by Ctrl-C while the owners change. Returns null if the start was over before that was seen. */
const interruptedChange = async (): Promise<string | null> => {
  const dataDir = temporaryFolder();
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATA_DIR: dataDir,
    PORT: '0',
    PLATFORM_URL: 'ws://127.0.0.1:9/',
    ADMIN_TOKEN: adminToken,
  };
  const child = spawn(process.execPath, [join(root, 'src/main.ts')], { cwd: dataDir, env, detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    const folder = join(dataDir, 'postgres');
    for (let path = ''; path === '' || ownerOf(path) < 60_000;) {
      if (existsSync(join(folder, 'data'))) {
        child.kill('SIGTERM');
        await ended;
        await removeFolder(dataDir);
        return null;
      }
      assert.equal(child.exitCode, null, 'the start goes on');
      const name = initFolder(folder);
      if (name !== undefined) path = join(folder, name);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // A terminal sends the signal of Ctrl-C to the whole process group. The gateway takes several within a second for one.
    for (const until = performance.now() + 500; performance.now() < until && child.exitCode === null; await wait(2))
      process.kill(-Number(child.pid), 'SIGINT');
    await ended;
  } finally {
    child.kill('SIGKILL');
  }
  return dataDir;
};

if (process.getuid?.() === 0 && process.platform === 'linux')
  test('start: Ctrl-C during the change of owners of a new data folder leaves no folder with several owners', async () => {
    let dataDir: string | null = null;
    // The change takes milliseconds, in which this process may not run.
    for (let attempts = 0; attempts < 10 && dataDir === null; attempts += 1) dataDir = await interruptedChange();
    assert.ok(dataDir !== null, 'the change of owners is seen');
    const data = join(dataDir, 'postgres', 'data');
    const { uid } = statSync(data, { throwIfNoEntry: false }) ?? { uid: 0 };
    if (uid !== 0) assert.equal(await ofAnotherUser(data, uid), null);
    const next = new GatewayProcess({ platformUrl: 'ws://127.0.0.1:9/', fresh: true }, dataDir);
    try {
      await next.start();
    } finally {
      await next.close();
    }
  });

test('start: an unknown argument is refused', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src/main.ts'), '--sanbox'], { encoding: 'utf8', timeout: 60_000 });
  assert.deepEqual([status, stderr.includes('--sanbox is not known')], [1, true]);
});

test('start: the entry is a link to plain JavaScript, so that an old Node can print what is missing', () =>
  assert.equal(readlinkSync(join(root, 'src/main.ts')), 'main.cjs'));
