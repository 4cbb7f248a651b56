/** Tests the time-outs of requests to a Chatwoot server. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createChatwootApi } from '#src/chatwoot/api.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { until } from '#test/support/until.ts';

let asked = 0;
/** Answers requests of account 3 with 504, and no others. */
const hung = createServer(({ url = '' }, response) => {
  asked += 1;
  if (url.includes('/accounts/3/')) response.writeHead(504).end();
});
await new Promise<void>((resolve) => hung.listen(0, '127.0.0.1', resolve));
const guard = new AddressGuard({ allow: ['loopback'] });
const api = createChatwootApi({ guard, userAgent: 'test', timeoutMs: 600_000, awaitedMs: 50, connections: 4 });
const hasty = createChatwootApi({ guard, userAgent: 'test', timeoutMs: 50, connections: 4 });
after(async () => {
  await api.close();
  await hasty.close();
  hung.closeAllConnections();
  hung.close();
});
const { port } = hung.address() as AddressInfo;
const message = { text: 'hi', incoming: true, private: false, sourceId: 'whatsapp:m1', replyTo: 0, file: null };
const place = { url: `http://127.0.0.1:${port}`, accountId: 1, inboxId: 2, accessToken: 'token' };

test('check: its time-out is much shorter than that of a delivery, because a caller waits for it', async () => {
  const delivery = api.conversation(place, 7);
  await until(() => asked === 1, 'the delivery has been asked for');
  assert.deepEqual(await api.check(place), { ok: false, error: 'Chatwoot could not be reached: no answer in time' });
  assert.equal(await Promise.race([delivery, 'it goes on']), 'it goes on');
});

test('post: one without an answer in time, or behind a proxy without one, is repeated when Chatwoot has ended the first', async () => {
  const late = { ok: false, error: 'Chatwoot could not be reached: no answer in time', laneAfter: 10 };
  assert.deepEqual(await hasty.post(place, 7, message), late);
  assert.partialDeepStrictEqual(await api.post({ ...place, accountId: 3 }, 7, message), { ok: false, status: 504, laneAfter: 10 });
});

test('post: one that reached no server is repeated at once, and so is a reading request', async () => {
  for (const failed of [await hasty.post({ ...place, url: 'http://127.0.0.1:1' }, 7, message), await hasty.conversation(place, 7)])
    assert.ok(!failed.ok && failed.laneAfter === undefined, JSON.stringify(failed));
});
