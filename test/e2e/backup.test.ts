/** Tests the commands for backup and restore while the gateway sends and receives. The restored gateway continues with every message of the backup. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { GatewayProcess } from '#test/support/gateway.ts';
import { Account } from '#test/support/account.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';
import { root } from '#test/source-tree.ts';

const folder = temporaryFolder();
let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(async () => {
  await scene.close();
  await removeFolder(folder);
});

const run = (program: string, args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> =>
  new Promise((done) => {
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: scene.gateway.dataDir };
    const child = spawn(process.execPath, [join(root, 'src', program), ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('close', (code) => done({ code, output }));
  });

test('backup: a gateway is copied while it sends and receives, and its copy continues without a pairing', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const traffic = { going: true };
  const arrived: string[] = [];
  const sent: string[] = [];
  const arrivals = (async () => {
    for (let number = 1; traffic.going; number += 1) {
      arrived.push(await scene.write(account, `arrival ${number}`));
      await wait(100);
    }
  })();
  const sends = (async () => {
    for (let number = 1; traffic.going; number += 1) {
      const { status, body } = await account.send(contact, `send ${number}`);
      assert.equal(status, 200, JSON.stringify(body));
      sent.push(`send ${number}`);
      await wait(60);
    }
  })();
  await until(() => arrived.length > 3 && sent.length > 3, 'texts go both ways');
  await scene.stored(account, [...arrived]);
  const [arrivedBefore, sentBefore] = [[...arrived], [...sent]];
  const made = await run('backup.ts', ['--to', 'backup']);
  assert.equal(made.code, 0, made.output);
  assert.match(made.output, /Database: .* files[\s\S]*The backup is whole: backup/);
  assert.ok(sent.length > sentBefore.length, 'sends went on');
  traffic.going = false;
  await Promise.all([arrivals, sends]);
  const again = await run('backup.ts', ['--to', 'backup']);
  assert.deepEqual([again.code, /holds a whole backup already/.test(again.output)], [1, true]);

  await scene.gateway.end('SIGTERM');
  const restored = await run('restore.ts', ['--from', 'backup', '--to', 'restored']);
  assert.equal(restored.code, 0, restored.output);
  assert.match(restored.output, /Restored to restored: 1 instances/);
  const copy = new GatewayProcess({ platformUrl: scene.platform.url }, join(folder, 'restored'));
  try {
    await copy.start();
    const there = Account.of(copy, account.number, account.token);
    await there.reaches('connected');
    await scene.stored(there, arrivedBefore);
    const texts = new Set((await there.messages(contact)).map(({ text }) => text));
    assert.deepEqual(
      sentBefore.filter((text) => !texts.has(text)),
      [],
    );
    await scene.stored(there, [await scene.write(account, 'after the restore')]);
  } finally {
    await copy.close();
  }
});
