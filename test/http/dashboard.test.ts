/** Tests the served files of the dashboard: all of them, with one content security policy, and no other file of the disk. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { setUp } from './setup.ts';

const open = async (t: TestContext) => {
  const { app } = await setUp(t);
  const get = (url: string, headers: object = {}) => app.inject({ url, headers: { ...headers } });
  const document = await get('/admin');
  assert.equal(document.statusCode, 200);
  return { get, document, named: [...document.body.matchAll(/(?:href|src)="(\/admin\/files\/[^"]+)"/g)].map(([, url = '']) => url) };
};

test('dashboard: every file that the document, the import map and the styles name is there, in its type, to be kept for ever', async (t) => {
  const { get, document, named } = await open(t);
  const [, map = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(document.body) ?? [];
  const library = Object.values((JSON.parse(map) as { readonly imports: Readonly<Record<string, string>> }).imports);
  assert.ok(named.length > 20 && library.length === 7);
  const types = { js: /^text\/javascript/, css: /^text\/css/, svg: /^image\/svg/, woff2: /^font\/woff2/ };
  for (const url of [...named, ...library]) {
    const { statusCode, headers, body } = await get(url);
    assert.equal(statusCode, 200, url);
    assert.match(String(headers['content-type']), types[url.split('.').at(-1) as keyof typeof types], url);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    for (const [, inside = ''] of url.endsWith('.css') ? body.matchAll(/url\('([^']+)'\)/g) : [])
      assert.equal((await get(new URL(inside, `http://any${url}`).pathname)).statusCode, 200, `${inside} of ${url}`);
  }
});

test('dashboard: every view is the same document, which browsers revalidate at each request', async (t) => {
  const { get, document } = await open(t);
  for (const url of ['/admin', '/admin/start', '/admin/sessions/r1', '/admin/sessions/r1/webhooks']) {
    const { statusCode, headers, body } = await get(url);
    assert.deepEqual([statusCode, headers['cache-control'], body], [200, 'no-cache', document.body]);
  }
});

test('dashboard: the address without a path redirects to the dashboard', async (t) => {
  const { statusCode, headers } = await (await open(t)).get('/');
  assert.deepEqual([statusCode, headers.location], [302, 'admin']);
});

test('dashboard: its address with a final slash redirects to it, also behind a proxy that adds a path', async (t) => {
  const { statusCode, headers } = await (await open(t)).get('/admin/');
  assert.deepEqual([statusCode, headers.location], [302, '../admin']);
  assert.equal(new URL(String(headers.location), 'http://any/behind/admin/').pathname, '/behind/admin');
});

test('dashboard: the policy allows this server alone, and of inline scripts the import map', async (t) => {
  const { document } = await open(t);
  const policy = String(document.headers['content-security-policy']);
  const inline = [...document.body.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs)].map(([, text = '']) => text);
  assert.equal(inline.length, 1);
  const hash = createHash('sha256')
    .update(inline[0] ?? '')
    .digest('base64');
  assert.match(policy, /^default-src 'none'; script-src 'self' 'sha256-[^ ]+'; style-src 'self';/);
  assert.ok(policy.includes(`'sha256-${hash}'`));
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.doesNotMatch(document.body, / style=| on\w+=|https?:\/\/(?!www\.w3\.org)/);
});

test('dashboard: files are compressed for clients that accept it, and a client with a current copy gets 304', async (t) => {
  const { get, named } = await open(t);
  const url = named.find((name) => name.endsWith('main.js')) ?? '';
  const plain = await get(url);
  const packed = await get(url, { 'accept-encoding': 'gzip, br' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(packed.rawPayload), plain.rawPayload);
  const known = await get(url, { 'if-none-match': plain.headers.etag });
  assert.deepEqual([known.statusCode, known.body], [304, '']);
});

for (const name of ['page/tsconfig.json', 'page/../files.ts', 'page/%2e%2e/files.ts', 'lib/../../../package.json', 'page/nothing.js', '']) {
  test(`dashboard: there is no file "${name}"`, async (t) => {
    const { get } = await open(t);
    const { statusCode, body } = await get(`/admin/files/any/${name}`);
    assert.equal(statusCode, 404);
    assert.equal(typeof JSON.parse(body).error, 'string');
  });
}
