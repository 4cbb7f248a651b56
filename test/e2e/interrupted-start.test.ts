/** A start that is interrupted, or asked for in words that mean nothing, leaves nothing behind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '#test/source-tree.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
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

test('start: an argument that means nothing is refused', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src/main.ts'), '--sanbox'], { encoding: 'utf8', timeout: 60_000 });
  assert.deepEqual([status, stderr.includes('--sanbox is not known')], [1, true]);
});

test('start: the entry is a link to plain JavaScript, so that an old Node can say what is missing', () =>
  assert.equal(readlinkSync(join(root, 'src/main.ts')), 'main.cjs'));
