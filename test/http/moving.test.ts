/** Imports and exports as HTTP: who may ask, the upload as it is, and the archive as it comes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readers } from '#src/moving/readers.ts';
import { asAdmin, asInstance, bodyLimit, setUp } from './setup.ts';

const url = '/admin/import?from=folder';

test('import: the body reaches the gateway as it is, however it is called and larger than other bodies', async (t) => {
  const { app } = await setUp(t);
  for (const type of ['application/octet-stream', 'application/json', 'application/x-tar', 'text/plain']) {
    const payload = Buffer.alloc(bodyLimit + 1, 'x');
    const reply = await app.inject({ method: 'POST', url, payload, headers: { ...asAdmin, 'content-type': type } });
    assert.equal(reply.statusCode, 200, reply.body);
    assert.deepEqual([reply.json().dryRun, reply.json().sessions[0].keys], [false, payload.length]);
  }
});

test('import: without the admin token, without a body and with wrong words it is refused', async (t) => {
  const { app } = await setUp(t);
  const payload = Buffer.from('x');
  const bytes = { 'content-type': 'application/octet-stream' };
  const replies = [
    await app.inject({ method: 'POST', url, payload, headers: bytes }),
    await app.inject({ method: 'POST', url, payload, headers: { ...asInstance, ...bytes } }),
    await app.inject({ method: 'POST', url, headers: asAdmin }),
    await app.inject({ method: 'POST', url: '/admin/import', payload, headers: { ...asAdmin, ...bytes } }),
    await app.inject({ method: 'POST', url: '/admin/import?from=elsewhere', payload, headers: { ...asAdmin, ...bytes } }),
    await app.inject({ method: 'POST', url: `${url}&dryRun=perhaps`, payload, headers: { ...asAdmin, ...bytes } }),
  ];
  assert.deepEqual(
    replies.map(({ statusCode }) => statusCode),
    [401, 401, 400, 400, 400, 400],
  );
  assert.equal(replies[2]?.json().error, 'the body is empty: it is the store of the other gateway');
});

test('import: the page offers every source', async () => {
  const page = await readFile(new URL('../../src/web/page/views/moving.js', import.meta.url), 'utf8');
  const offered = [...(/const sources = [^[]*\[([^\]]*)\]/.exec(page)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, name]) => name);
  assert.deepEqual(offered, Object.keys(readers));
});

test('export: the archive comes as bytes, and a refusal as JSON', async (t) => {
  const { app } = await setUp(t);
  const ask = (payload: object) => app.inject({ method: 'POST', url: '/admin/export', payload, headers: asAdmin });
  const passphrase = 'correct horse battery staple';
  const archive = await ask({ passphrase });
  assert.deepEqual([archive.statusCode, archive.headers['content-type'], archive.body], [200, 'application/octet-stream', 'an archive']);
  const unknown = await ask({ passphrase, instances: ['unknown'] });
  assert.deepEqual([unknown.statusCode, unknown.json()], [404, { error: 'there is no instance unknown' }]);
  assert.equal((await ask({ passphrase: 'short' })).statusCode, 400);
});
