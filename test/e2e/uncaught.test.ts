/** Tests an uncaught error in the real process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayProcess } from '#test/support/gateway.ts';
import { patience } from '#test/support/until.ts';

const surprise = 'data:text/javascript,process.on("SIGUSR2",()=>setTimeout(()=>{throw new Error("a surprise")}))';

test('uncaught error: the error is logged, the sessions end in order, and the process ends with code 1', async (t) => {
  const gateway = new GatewayProcess({ nodeArgs: ['--import', surprise] });
  t.after(() => gateway.close());
  await gateway.start();
  gateway.signal('SIGUSR2');
  assert.equal(await gateway.endsWithin(patience), 1, gateway.printed);
  assert.match(gateway.printed, /process\.uncaughtException/);
  assert.match(gateway.printed, /service\.stopped/);
});
