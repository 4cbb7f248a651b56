/** Tests requests that the simulated platform does not know: it refuses them as the real platform does, and counts them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BinaryNode, getBinaryNodeChild } from '@whiskeysockets/baileys';
import { connect, createAuth, openSandbox, pair, qrOf, type Client, type TestSandbox } from './client.ts';

const number = '5511999990031';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number, name: 'Ana' });
});
after(() => cleanUp());

const child = (tag: string, content?: BinaryNode['content']): BinaryNode => ({ tag, attrs: {}, ...(content ? { content } : {}) });

const rows: readonly (readonly [title: string, name: string, xmlns: string, type: string, content?: BinaryNode[]])[] = [
  ['an unknown namespace', 'w:nothing/get/thing', 'w:nothing', 'get', [child('thing')]],
  ['an unknown request of a known namespace', 'w:g2/set/paint', 'w:g2', 'set', [child('paint')]],
  ['a known request as the wrong type', 'privacy/set/tokenz', 'privacy', 'set', [child('tokenz')]],
  ['a request without a child', 'w:m/set/', 'w:m', 'set'],
  [
    'a question about people by an unknown protocol',
    'usync/height',
    'usync',
    'get',
    [child('usync', [child('query', [child('height')]), child('list', [{ tag: 'user', attrs: { jid: '5511988880031@s.whatsapp.net' } }])])],
  ],
];

for (const [title, name, xmlns, type, content] of rows) {
  test(`unknown: ${title} is refused with 501 and counted`, async () => {
    const stanza = { tag: 'iq', attrs: { to: 's.whatsapp.net', type, xmlns }, ...(content ? { content } : {}) };
    await assert.rejects(client.sock.query(stanza), (error: { data?: number; message: string }) => {
      assert.deepEqual([error.data, error.message], [501, 'feature-not-implemented']);
      return true;
    });
    assert.equal(sandbox.sandbox.stats().unknown[name], 1);
  });
}

const askInJson = (id: string, content?: BinaryNode['content']): Promise<BinaryNode> =>
  client.sock.query({
    tag: 'iq',
    attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:mex' },
    content: [{ tag: 'query', attrs: { query_id: id }, ...(content ? { content } : {}) }],
  });

test('unknown: a query in JSON by an unknown id answers with an error in JSON, and is counted', async () => {
  const result = getBinaryNodeChild(await askInJson('7', Buffer.from('{"variables":{}}')), 'result');
  assert.deepEqual(JSON.parse(String(result?.content)), {
    data: null,
    errors: [{ message: 'feature-not-implemented', extensions: { error_code: 501 } }],
  });
  assert.equal(sandbox.sandbox.stats().unknown['w:mex/7'], 1);
});

test('queries: one in JSON that cannot be read is refused with 400', async () => {
  for (const content of [undefined, Buffer.from('{'), Buffer.from('{"variables":7}')])
    await assert.rejects(askInJson('23983697327930364', content), /bad-request/);
  assert.equal(typeof (await client.sock.fetchAccountReachoutTimelock()).isActive, 'boolean');
});

test('before the login: a request that needs one is refused with 401', async () => {
  const stranger = connect(sandbox, createAuth());
  await qrOf(stranger);
  const stanza = { tag: 'iq', attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'blocklist' } };
  await assert.rejects(stranger.sock.query(stanza), /not-authorized/);
  await stranger.end();
});
