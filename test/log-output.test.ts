/** Tests the log on a full disk, and with a paused reader of the output. The process continues and counts the lost lines. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { loggable, LogOutput, withInstanceLevels } from '#src/log.ts';
import { root } from '#test/source-tree.ts';
import { argsFor } from '#test/support/constants.ts';
import { freePort } from '#test/support/ports.ts';
import { copyPreparedDatabase } from '#test/support/prepared-database.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { FakeLog } from '#test/fakes/time.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { until } from '#test/support/until.ts';

const disk = SmallDisk.open(1);
const reason = disk === null ? ' (left out: no small disk can be mounted here)' : '';
const onDisk = (title: string, run: (disk: SmallDisk) => Promise<void>): void =>
  void test(`log: ${title}${reason}`, { skip: disk === null }, () => run(disk!));

test('log: an error of the database that quotes a refused value is logged with its code and frames, as a cause too', () => {
  const refused = Object.assign(new Error('invalid input syntax for type bigint: "a private text"'), { severity: 'ERROR', code: '22P02' });
  const unknown = Object.assign(new Error('relation "nothing" does not exist'), { severity: 'ERROR', code: '42P01' });
  const line = JSON.stringify(loggable(new Error('not stored', { cause: refused })));
  assert.ok(!line.includes('a private text'), line);
  assert.match(line, /"message":"the database refused a value","stack":" *at .*"code":"22P02"/);
  assert.match(JSON.stringify(loggable(unknown)), /relation \\"nothing\\"/);
});

test('log: a level that ended is forgotten when another level is set', () => {
  let now = 1_000;
  const { logLevels } = withInstanceLevels(new FakeLog(), () => now);
  logLevels.set('deleted', 'debug', 2_000);
  now = 3_000;
  logLevels.set('other', 'debug', 4_000);
  // With the clock set back, a kept level would count again.
  now = 1_000;
  assert.deepEqual([logLevels.of('deleted'), logLevels.of('other')?.level], [null, 'debug']);
});

onDisk('lines on a full disk are counted, and the rest of a torn line stands alone', async (disk) => {
  const path = join(disk.folder, 'lines.log');
  const file = openSync(path, 'a');
  const recovered: unknown[] = [];
  const output = new LogOutput(file, (lines, code) => recovered.push([lines, code]));
  try {
    output.write('first\n');
    disk.fill();
    const long = `${'x'.repeat(10_000)}\n`;
    for (let line = 0; line < 3; line++) output.write(long);
    assert.equal(output.lost, 3);
    disk.drain();
    output.write('last\n');
    await turn();
    assert.deepEqual([output.lost, recovered], [0, [[3, 'ENOSPC']]]);
    const lines = readFileSync(path, 'utf8').split('\n');
    assert.deepEqual([lines[0], lines.at(-2)], ['first', 'last']);
  } finally {
    closeSync(file);
    disk.drain();
  }
});

onDisk('a gateway whose log is on a full disk answers, and tells afterwards how many lines were lost', async (disk) => {
  const dataDir = temporaryFolder();
  copyPreparedDatabase(dataDir);
  const path = join(disk.folder, 'gateway.log');
  const file = openSync(path, 'a');
  const port = await freePort();
  const settings = {
    PORT: `${port}`,
    DATA_DIR: dataDir,
    PLATFORM_URL: 'ws://127.0.0.1:9',
    ADMIN_TOKEN: 'a-token-of-the-log-test',
    NUMBERS_LOG_EVERY_MS: '50',
    // The overload check is off, because other tests may keep the machine busy.
    OVERLOAD_LAG_MS: '0',
    SHUTDOWN_MS: '60000',
  };
  const gateway = spawn(process.execPath, [...argsFor(settings), join(root, 'src/main.ts')], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', file, file],
  });
  const ended = once(gateway, 'exit');
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await until(isReady, () => `the gateway is ready: ${readFileSync(path, 'utf8')}`);
    disk.fill();
    // The file still grows to the end of its last page. The next line is lost.
    await until(() => statSync(path).size % 4_096 === 0, 'the last page of the log is full');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.deepEqual([gateway.exitCode, gateway.signalCode, await isReady()], [null, null, true]);
    disk.drain();
    await until(() => /"lines":\d+,"code":"ENOSPC","msg":"log.linesLost"/.test(readFileSync(path, 'utf8')), 'the count of the lines');
    gateway.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  } finally {
    gateway.kill('SIGKILL');
    await ended;
    closeSync(file);
    disk.close();
    await removeFolder(dataDir);
  }
});
