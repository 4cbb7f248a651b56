/** Tests which browser contexts may use the routes of a passkey code: extensions may, and pages may not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GuessLimit } from '#src/http/rate-limit.ts';
import { asBrowser, setUp } from './setup.ts';

const extension = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';
const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type,passkey-code' };

for (const corsOrigins of [[], ['https://app.example.com'], ['*']] as const)
  test(`passkey code: an extension has access if CORS_ORIGINS is "${corsOrigins.join()}"`, async (t) => {
    const { app } = await setUp(t, { corsOrigins });
    for (const url of ['/passkey', '/passkey/confirm']) {
      const question = await app.inject({ method: 'OPTIONS', url, headers: { origin: extension, ...asked } });
      const { headers } = question;
      assert.deepEqual([question.statusCode, headers['access-control-allow-origin']], [204, extension]);
      assert.equal(headers['access-control-allow-headers'], 'content-type, passkey-code');
    }
    for (const headers of [asBrowser, { 'passkey-code': 'wrong' }]) {
      const answer = await app.inject({ url: '/passkey', headers: { origin: extension, ...headers } });
      assert.equal(answer.headers['access-control-allow-origin'], extension);
    }
    const other = await app.inject({ url: '/instance/status', headers: { origin: extension } });
    assert.notEqual(other.headers['access-control-allow-origin'], extension);
  });

test('passkey code: a web page has no access', async (t) => {
  const { app } = await setUp(t);
  for (const origin of ['https://web.whatsapp.com', 'null', 'https://chrome-extension.example', 'chrome-extension://a.b'])
    for (const method of ['GET', 'OPTIONS'] as const) {
      const { headers } = await app.inject({ method, url: '/passkey', headers: { origin, ...asked, ...asBrowser } });
      assert.equal(headers['access-control-allow-origin'], undefined, origin);
    }
});

test('guesses: a network has twenty a minute, valid codes do not count, and other networks are not limited', () => {
  const limit = new GuessLimit(20);
  for (let n = 0; n < 100; n += 1) {
    assert.equal(limit.take('one', n), null);
    limit.giveBack('one');
  }
  for (let n = 0; n < 20; n += 1) assert.equal(limit.take('one', 1_000), null);
  assert.equal(limit.take('one', 30_000), 30);
  assert.equal(limit.take('other', 30_000), null);
  assert.equal(limit.take('one', 60_000), null);
});
