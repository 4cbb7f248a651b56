/** Tests stanzas in the inbound log. For any name of the sender they are read as they were logged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import { decodeStanza, encodeStanza, isCarried } from '#src/platform/wire/stanza-codec.ts';
import { createFakeVault } from '#test/fakes/vault.ts';
import { happens, stanza, start } from './inbound-run.ts';

const plain = ['', 'Ana', 'Tom @ Home', '@x', 'x@y', 'a@b@c', '5:30', 'a_b', 'admin', '12.5', 'AF', '5511900000001@s.whatsapp.net'];
const addresses = ['5511900000001:3@s.whatsapp.net', '100000000000001:99@lid', '120363000000000001@g.us', 'status@broadcast', '1-2@g.us'];
const lost = ['Shop@', '@', '@@', 'Meet 5:30@Bar', 'a_b:7@x', 'ab_1@lid', 'a@b:1@c', 'é@', '5511900000001:300@s.whatsapp.net'];

const named = (notify: string): BinaryNode => ({
  tag: 'message',
  attrs: { id: '3EB0', notify },
  content: [{ tag: 'enc', attrs: { v: '2' }, content: Buffer.from('cipher') }],
});

for (const text of [...plain, ...addresses, ...lost])
  test(`stanzas: one of somebody who is called ${JSON.stringify(text)} is read as it was logged`, async () => {
    assert.deepEqual(await decodeStanza(Buffer.from(encodeStanza(named(text)))), named(text));
  });

test('stanzas: another encoding than that of earlier versions is used only where that one loses something', async () => {
  const isFaithful = async (text: string): Promise<boolean> => {
    const read = await decodeBinaryNode(Buffer.from(encodeBinaryNode(named(text)))).catch(() => null);
    return read?.attrs['notify'] === text;
  };
  for (const text of [...plain, ...addresses, ...lost]) assert.equal(isCarried(text), await isFaithful(text), JSON.stringify(text));
});

test('stanzas: after a kill a message whose sender has a name like a part of an address is handed over', async () => {
  const vault = createFakeVault();
  const killed = await start(vault);
  killed.inbox.open();
  killed.stored = () => new Promise(() => undefined);
  killed.inbox.take('message', stanza('a', 'message', { notify: 'Shop@' }));
  await happens(killed, 1);
  const next = await start(vault);
  next.inbox.open();
  await happens(next, 1);
  assert.equal(next.nodes[0]?.attrs['notify'], 'Shop@');
});

test('stanzas: an unreadable one is reported and does not keep the session closed', async () => {
  const vault = createFakeVault();
  vault.inbound.set(1, { stanza: Buffer.from([0, 250, 1]), tries: 0 });
  const run = await start(vault);
  run.inbox.open();
  run.inbox.take('message', stanza('b'));
  await happens(run, 1);
  assert.deepEqual(run.handed, ['message b']);
  assert.equal(run.errors[0]?.event, 'platform.stanzas-set-aside');
});
