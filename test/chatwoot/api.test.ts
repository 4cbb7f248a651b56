/** Tests the time-outs of requests to a Chatwoot server. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createChatwootApi } from '#src/chatwoot/api.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { until } from '#test/support/until.ts';

let asked = 0;
/** Never answers. */
const hung = createServer(() => void (asked += 1));
await new Promise<void>((resolve) => hung.listen(0, '127.0.0.1', resolve));
const guard = new AddressGuard({ allow: ['loopback'] });
const api = createChatwootApi({ guard, userAgent: 'test', timeoutMs: 600_000, awaitedMs: 50, connections: 4 });
after(async () => {
  await api.close();
  hung.closeAllConnections();
  hung.close();
});
const { port } = hung.address() as AddressInfo;
const place = { url: `http://127.0.0.1:${port}`, accountId: 1, inboxId: 2, accessToken: 'token' };

test('check: its time-out is much shorter than that of a delivery, because a caller waits for it', async () => {
  const delivery = api.conversation(place, 7);
  await until(() => asked === 1, 'the delivery has been asked for');
  assert.deepEqual(await api.check(place), { ok: false, error: 'Chatwoot could not be reached: no answer in time' });
  assert.equal(await Promise.race([delivery, 'it goes on']), 'it goes on');
});
