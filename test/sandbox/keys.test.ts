/** Tests keys of devices in the requests of other clients: any order of children, digests, signed lists, and bundles of single devices. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  type BinaryNode,
  Curve,
  getBinaryNodeChild,
  getBinaryNodeChildBuffer,
  getBinaryNodeChildren,
  jidEncode,
  proto,
  signedKeyPair,
} from '@whiskeysockets/baileys';
import { verify } from 'curve25519-js';
import { openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const own = '5511999990081';
const friend = '5511999990082';
let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
let device: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: own });
  device = await pair(sandbox, { number: friend });
});
after(() => cleanUp());

const child = (tag: string, content?: BinaryNode['content'], attrs: Record<string, string> = {}): BinaryNode => ({
  tag,
  attrs,
  ...(content ? { content } : {}),
});
const uint = (value: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
};
const ask = (type: 'get' | 'set', xmlns: string, content: BinaryNode[]): Promise<BinaryNode> =>
  client.sock.query({ tag: 'iq', attrs: { to: 's.whatsapp.net', type, xmlns }, content });
const inside = (node: BinaryNode | undefined, ...tags: readonly string[]): BinaryNode | undefined =>
  tags.reduce<BinaryNode | undefined>((at, tag) => getBinaryNodeChild(at, tag), node);
const bytesOf = (node: BinaryNode | undefined, tag: string): Buffer => Buffer.from(getBinaryNodeChildBuffer(node, tag) ?? []);

const first = 900_000;
/** Two one-time keys with ids above those of the library. */
const pairs = [Curve.generateKeyPair(), Curve.generateKeyPair()];
const keyNodes = pairs.map(({ public: value }, n) => child('key', [child('id', uint(first + n, 3)), child('value', value)]));

test('keys: an upload that begins with the identity is accepted', async () => {
  const { signedIdentityKey, registrationId, signedPreKey } = client.auth.creds;
  await ask('set', 'encrypt', [
    child('identity', signedIdentityKey.public),
    child('registration', uint(registrationId, 4)),
    child('type', Buffer.from([5])),
    child('list', keyNodes),
    child('skey', [
      child('id', uint(signedPreKey.keyId, 3)),
      child('value', signedPreKey.keyPair.public),
      child('signature', signedPreKey.signature),
    ]),
  ]);
  assert.deepEqual(sandbox.sandbox.stats().unknown, {});
});

test('keys: the digest lists the one-time keys, and its hash covers all keys', async () => {
  const digest = inside(await ask('get', 'encrypt', [child('digest')]), 'digest');
  const ids = getBinaryNodeChildren(inside(digest, 'list'), 'id').map(({ content }) => Buffer.from(content as Uint8Array).readUIntBE(0, 3));
  assert.deepEqual(ids.slice(-2), [first, first + 1]);
  const { creds, values } = client.auth;
  const hash = createHash('sha1').update(creds.signedIdentityKey.public);
  hash.update(creds.signedPreKey.keyPair.public).update(creds.signedPreKey.signature);
  for (const id of ids) hash.update(pairs[id - first]?.public ?? (values.get(`pre-key ${id}`) as { public: Uint8Array }).public);
  assert.deepEqual(bytesOf(digest, 'hash'), hash.digest());
});

test('keys: a list of devices has its hash, and the key indexes that the phone signed', async () => {
  const { lid } = sandbox.sandbox.people().find(({ number }) => number === friend) ?? {};
  const jids = [`${friend}@s.whatsapp.net`, `${lid}@lid`];
  const users = jids.map((jid) => child('user', undefined, { jid }));
  const usync = child('usync', [child('query', [child('devices', undefined, { version: '2' })]), child('list', users)], {
    sid: '1',
    mode: 'query',
    context: 'message',
    last: 'true',
    index: '0',
  });
  const answer = inside(await ask('get', 'usync', [usync]), 'usync', 'list');
  const hashes = getBinaryNodeChildren(answer, 'user').map((user) => inside(user, 'devices', 'device-list')?.attrs['hash']);
  const expected = jids.map((jid) => {
    const names = [0, 1].map((number) => jid.replace('@', `.0:${number}@`)).join('');
    return `2:${createHash('sha256').update(names).digest().subarray(0, 6).toString('base64')}`;
  });
  assert.deepEqual(hashes, expected);
  const list = inside(getBinaryNodeChildren(answer, 'user')[0], 'devices', 'key-index-list');
  const signed = proto.ADVSignedKeyIndexList.decode(list?.content as Uint8Array);
  const { accountSignatureKey, accountSignature, details } = signed;
  assert.deepEqual(Buffer.from(accountSignatureKey ?? []), Buffer.from(device.auth.creds.account?.accountSignatureKey ?? []));
  const text = Buffer.concat([Buffer.from([6, 2]), details ?? Buffer.alloc(0)]);
  assert.equal(verify(accountSignatureKey ?? Buffer.alloc(32), text, accountSignature ?? Buffer.alloc(64)), true);
  const { validIndexes, currentIndex, timestamp, rawId } = proto.ADVKeyIndexList.decode(details ?? Buffer.alloc(0));
  assert.deepEqual([validIndexes, currentIndex, String(timestamp)], [[0, 1], 1, list?.attrs['ts']]);
  assert.equal(rawId, proto.ADVDeviceIdentity.decode(device.auth.creds.account?.details ?? Buffer.alloc(0)).rawId);
});

test('keys: bundles of single devices are answered, and unknown people are reported', async () => {
  const stranger = jidEncode('999999999999999', 'lid');
  const wanted = (id: number): BinaryNode => child('device', [child('registration', uint(1, 4))], { id: String(id) });
  const answer = await ask('get', 'encrypt', [
    child('key_fetch', [
      child('user', [0, 1, 7].map(wanted), { jid: `${friend}@s.whatsapp.net` }),
      child('user', [wanted(0)], { jid: stranger }),
    ]),
  ]);
  const [known, unknown] = getBinaryNodeChildren(inside(answer, 'list'), 'user');
  const devices = getBinaryNodeChildren(known, 'device');
  assert.deepEqual(
    devices.map(({ attrs: { id } }) => id),
    ['0', '1'],
  );
  const { signedIdentityKey, registrationId } = device.auth.creds;
  assert.deepEqual(bytesOf(devices[1], 'identity'), Buffer.from(signedIdentityKey.public));
  assert.equal(bytesOf(devices[1], 'registration').readUInt32BE(0), registrationId);
  assert.ok(inside(devices[1], 'key') && inside(devices[0], 'key'));
  assert.deepEqual(inside(unknown, 'error')?.attrs, { code: '404', text: 'item-not-found' });
});

test('keys: a signed pre-key in an upload is verified for any order of children', async () => {
  const { signedIdentityKey, registrationId } = client.auth.creds;
  const forged = signedKeyPair(Curve.generateKeyPair(), 3);
  const upload = ask('set', 'encrypt', [
    child('identity', signedIdentityKey.public),
    child('registration', uint(registrationId, 4)),
    child('skey', [child('id', uint(3, 3)), child('value', forged.keyPair.public), child('signature', forged.signature)]),
  ]);
  await assert.rejects(upload, /not-acceptable/);
});
