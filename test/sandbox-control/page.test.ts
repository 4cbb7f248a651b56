/** Tests the files of the page. They have a strict content security policy, and data never becomes markup. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { serve } from './serve.ts';

const folder = new URL('../../src/sandbox/page/', import.meta.url);
const files = await readdir(folder);
const read = (name: string) => readFile(new URL(name, folder), 'utf8');
const { call } = await serve({ after });

test('page: the document is served under a policy that allows its own files only', async () => {
  const { status, headers, body } = await call('GET', '/');
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/html/);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(body, await read('index.html'));
});

test('page: every file that is referred to is served with its type', async () => {
  const references = new Set<string>();
  for (const name of files) {
    const source = await read(name);
    for (const [, path] of source.matchAll(/(?:href|src)="(\/page\/[^"]+)"/g)) references.add(String(path));
    for (const [, path] of source.matchAll(/from '\.\/([^']+)'/g)) references.add(`/page/${path}`);
  }
  assert.ok(references.size >= 10);
  for (const path of references) {
    const { status, headers } = await call('GET', path);
    assert.equal(status, 200, path);
    assert.match(String(headers['content-type']), /^(text\/(javascript|css)|image\/svg)/, path);
  }
});

test('page: nothing is loaded from other hosts, no text becomes markup, no style or script is inline', async () => {
  for (const name of files) {
    const source = await read(name);
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/, name);
    assert.doesNotMatch(source.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\//, name);
    if (name.endsWith('.html')) assert.doesNotMatch(source, /<style|style="| on[a-z]+="|<script(?![^>]* src=)/, name);
  }
});

test('page: it offers exactly the faults of the interface', async () => {
  const { faultKinds } = (await import(new URL('fault-kinds.js', folder).href)) as {
    faultKinds: Record<string, { fields: Record<string, number> }>;
  };
  for (const [kind, { fields }] of Object.entries(faultKinds)) {
    assert.equal((await call('POST', '/faults', { kind, ...fields })).status, 200, kind);
  }
  const { error } = (await call('POST', '/faults', { kind: 'x' })).body as { error: string };
  assert.deepEqual(Object.keys(faultKinds), error.replace('kind must be one of ', '').split(','));
});

test('page: it offers exactly the behaviours of the platform during linking with a passkey', async () => {
  const { passkeyFaults } = (await import(new URL('passkey.js', folder).href)) as { passkeyFaults: readonly (readonly [string, string])[] };
  const named = passkeyFaults.map(([fault]) => fault).filter((fault) => fault !== '');
  for (const fault of named) assert.equal((await call('POST', '/phones/5511900000001/passkey', { fault })).status, 200, fault);
  const { error } = (await call('POST', '/phones/5511900000001/passkey', { fault: 'x' })).body as { error: string };
  assert.deepEqual(named, error.replace('fault must be one of ', '').split(','));
});

test('page: each phone has a control for its passkey, and one stands beside the forms for linking', async () => {
  assert.match(await read('index.html'), /<button type="button" id="passkey"/);
  const phones = await read('phones.js');
  assert.match(phones, /byId\('passkey'\)\.addEventListener\('click', newPasskey\)/);
  assert.match(phones, /editPasskey\(person\.number\)/);
});
