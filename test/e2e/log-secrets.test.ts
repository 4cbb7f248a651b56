/**
 * Tests that the log has nothing secret or personal at its lowest level, in a run with pairing, texts, files, failing receivers, wrong tokens, sleep and
 * unlinking.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminToken } from '#test/support/gateway.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

test('log: a whole run at the lowest level shows no token, key, number or text', async (t) => {
  const scene = await Scene.open({ LOG_LEVEL: 'trace', CIRCUIT_FAILURES: '2' });
  t.after(() => scene.close());
  const { gateway, receiver } = scene;
  const account = await scene.paired();
  const secretPath = 'hook-with-a-secret-path';
  await account.call('POST', '/webhook', {
    url: `http://127.0.0.1:9/${secretPath}`,
    enabled: true,
    events: ['messages', 'messages_update'],
  });
  const [out, back, caption] = ['a text that nobody may log', 'an answer that nobody may log', 'a caption that nobody may log'];
  assert.equal((await account.send(contact, out)).status, 200);
  await scene.write(account, back);
  const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const sent = await account.call('POST', '/send/media', { number: contact, type: 'image', file: picture, text: caption });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const wrong = 'a-wrong-token-that-somebody-tried';
  assert.equal((await gateway.call('GET', '/instance/status', { token: wrong })).status, 401);
  assert.equal((await gateway.call('GET', '/instance/all', { headers: { admintoken: wrong } })).status, 403);
  assert.equal((await account.call('POST', '/send/text', { number: 'no number at all 5511', text: out })).status, 400);
  await until(() => receiver.posted.some(({ body }) => JSON.stringify(body).includes(back)), 'the answer comes by webhook');
  await until(() => gateway.printed.includes('webhook.attempted'), 'the failing webhook is tried');
  assert.equal((await account.call('POST', '/instance/hibernate')).status, 200);
  await account.reaches('hibernated');
  assert.equal((await account.send(contact, out)).status, 200);
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  const key = readFileSync(join(gateway.dataDir, 'encryption.key'), 'utf8').trim();
  const { printed } = gateway;
  assert.ok(printed.includes('"event":') || printed.includes('"msg":'), 'there is a log');
  const forbidden = {
    adminToken,
    token: account.token,
    wrong,
    key,
    number: account.number,
    contact,
    out,
    back,
    caption,
    picture,
    secretPath,
  };
  for (const [name, value] of Object.entries(forbidden)) {
    const at = printed.indexOf(value);
    assert.equal(at, -1, `${name} is in the log: ${printed.slice(Math.max(0, at - 300), at + 100)}`);
  }
});
