/** Tests the start of connections: the handshakes of the real platform, and passive and other logins. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Curve, type BinaryNode, type proto } from '@whiskeysockets/baileys';
import { type Auth, eventually, openSandbox, pair, type TestSandbox } from './client.ts';
import { connectRaw, type RawClient, type RawLogin } from './raw-client.ts';

const own = '5511999990083';
const friend = '5511988880083';
let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let auth: Auth;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  const client = await pair(sandbox, { number: own });
  await eventually(() => client.seen('connection.update').some(({ receivedPendingNotifications }) => receivedPendingNotifications), 'live');
  auth = client.auth;
  await client.end();
});
after(() => cleanUp());

const loggedIn = (more: proto.IClientPayload = {}, serverKey?: Uint8Array): Promise<RawClient> => {
  const login: RawLogin = {
    port: sandbox.port,
    noiseKey: auth.creds.noiseKey,
    payload: { username: Number(own), device: 1, passive: true, ...more },
    ...(serverKey ? { serverKey } : {}),
  };
  return connectRaw(login);
};
const succeeds = (client: RawClient): Promise<BinaryNode> => client.wait(({ tag }) => tag === 'success', '<success>');
const ping = async (client: RawClient): Promise<void> => {
  const id = String(Math.random());
  client.send({ tag: 'iq', attrs: { id, to: 's.whatsapp.net', type: 'get', xmlns: 'w:p' }, content: [{ tag: 'ping', attrs: {} }] });
  await client.wait(({ attrs }) => attrs['id'] === id, 'the answer to a ping');
};
const activate = async (client: RawClient): Promise<void> => {
  const id = String(Math.random());
  client.send({ tag: 'iq', attrs: { id, to: 's.whatsapp.net', type: 'set', xmlns: 'passive' }, content: [{ tag: 'active', attrs: {} }] });
  await client.wait(({ attrs }) => attrs['id'] === id, 'the answer to <active/>');
};
/** Counts the reports that all stored messages were sent, and the arrivals of this message. */
const stored = ({ got }: RawClient, wanted: string) => ({
  ends: got.filter(({ tag, content }) => tag === 'ib' && Array.isArray(content) && content[0]?.tag === 'offline').length,
  copies: got.filter(({ tag, attrs }) => tag === 'message' && attrs['id'] === wanted).length,
});

test('handshake: a client that knows the key of the platform logs in with one round trip, by IK', async () => {
  const first = await loggedIn();
  await succeeds(first);
  assert.equal(first.pattern, 'XX');
  await first.close();
  const second = await loggedIn({}, first.serverKey);
  await succeeds(second);
  await ping(second);
  assert.equal(second.pattern, 'IK');
  await second.close();
});

test('handshake: a client with an old key of the platform is answered in full, and logs in', async () => {
  const client = await loggedIn({}, Curve.generateKeyPair().public);
  await succeeds(client);
  await ping(client);
  assert.equal(client.pattern, 'XXfallback');
  await client.close();
});

test('handshake: a wrong certificate is shown to a client that knows the key, too', async () => {
  const known = await loggedIn();
  await known.close();
  await sandbox.sandbox.fault({ kind: 'badCertificate' });
  const client = await loggedIn({}, known.serverKey);
  assert.equal(client.pattern, 'XXfallback');
  await client.close();
});

test('handshake: a stranger who knows the key is refused at the login', async () => {
  const { serverKey, close } = await loggedIn();
  await close();
  const payload = { username: Number(own), device: 1, passive: true };
  const client = await connectRaw({ port: sandbox.port, noiseKey: Curve.generateKeyPair(), payload, serverKey });
  const { attrs } = await client.wait(({ tag }) => tag === 'failure', '<failure>');
  assert.equal(attrs['reason'], '401');
  await client.close();
});

test('login: a client that is not passive gets stored messages once, without asking', async () => {
  const { id } = await sandbox.sandbox.send(friend, own, { kind: 'text', text: 'while it was away' });
  for (const payload of [{ passive: false }, { passive: undefined as never }]) {
    const client = await loggedIn(payload);
    await client.wait(({ tag, attrs }) => tag === 'message' && attrs['id'] === id, 'the text');
    await activate(client);
    await ping(client);
    assert.deepEqual(stored(client, id), { ends: 1, copies: 1 });
    await client.close();
  }
});

test('login: a passive client gets stored messages on request', async () => {
  const { id } = await sandbox.sandbox.send(friend, own, { kind: 'text', text: 'for whoever asks' });
  const client = await loggedIn();
  await succeeds(client);
  await ping(client);
  assert.deepEqual(stored(client, id), { ends: 0, copies: 0 });
  await activate(client);
  await client.wait(({ tag, attrs }) => tag === 'message' && attrs['id'] === id, 'the text');
  await ping(client);
  assert.deepEqual(stored(client, id), { ends: 1, copies: 1 });
  await client.close();
});
