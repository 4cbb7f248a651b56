/** Tests a start after a crash of the embedded database. A liveness probe must not end the process while the database reads its log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddedUrl } from '#test/support/embedded-url.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { freePort } from '#test/support/ports.ts';
import { isRunning, signalTo } from '#test/support/processes.ts';
import { held, writeLog } from '#test/support/recovery.ts';
import { until } from '#test/support/until.ts';

test('recovering: while the database reads its log, /health is 200 and readiness is 503, and the start continues', async () => {
  const port = await freePort();
  const gateway = new GatewayProcess({ platformUrl: 'ws://127.0.0.1:9/', env: { PORT: String(port) } });
  const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  try {
    await gateway.start();
    await writeLog(embeddedUrl(gateway.dataDir));
    const killed = gateway.databases;
    await gateway.end('SIGKILL');
    for (const pid of killed) signalTo(pid, 'SIGKILL');
    await until(() => killed.every((pid) => !isRunning(pid)), 'the server is gone');
    gateway.launch();
    const recovering = await held(gateway.dataDir, killed[0] ?? 0);
    try {
      await until(
        () =>
          at('/health').then(
            ({ ok }) => ok,
            () => false,
          ),
        'the start answers',
      );
      assert.partialDeepStrictEqual(await (await at('/health')).json(), { status: 'recovering' });
      const ready = await at('/health/ready');
      const sentence = 'the database reads its log after it was interrupted';
      assert.deepEqual([ready.status, await ready.json()], [503, { error: sentence, reasons: [sentence] }]);
    } finally {
      signalTo(recovering, 'SIGCONT');
    }
    await until(
      () =>
        at('/health/ready').then(
          ({ status }) => status === 200,
          () => false,
        ),
      'the gateway is ready',
    );
  } finally {
    await gateway.close();
  }
});
