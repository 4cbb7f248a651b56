/** Tests contacts that link and unlink devices. The next message reaches all current devices, however the gateway learns of the change. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Message } from '#actors/model.ts';
import { DeviceCache } from '#src/platform/link/socket-config.ts';
import { followAcks, type FollowedAcks } from '#src/platform/link/sent-acks.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

const own = '5511900000931';
const friends = ['5511900000932', '5511900000933', '5511900000934'] as const;
let bench: Bench;
let instance: Instance;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
});
after(() => bench.stop());

const transmitted = async (number: string, text: string): Promise<Message> => {
  const control = { signal: new AbortController().signal, deadline: Date.now() + 60_000 };
  const send = { number, replyTo: '', mentions: [], forward: false, content: { kind: 'text' as const, text, preview: null } };
  const composed = await instance.link.perform({ name: 'message.compose', input: { send, draft: null } }, control);
  assert.ok(composed.ok);
  const sent = await instance.link.perform({ name: 'message.transmit', input: { message: composed.value } }, control);
  assert.equal(sent.ok, true, JSON.stringify(sent));
  return composed.value;
};

/** Sends a text and waits until the phone has decrypted it. */
const readBy = async (number: string, text: string): Promise<Message> => {
  const message = await transmitted(number, text);
  await until(() => bench.running.sandbox.received(number).some((one) => one.text === text), `the phone reads ${text}`);
  return message;
};

/** Sends a text and waits until a linked device of the contact has received it. */
const reaches = async (device: Instance, number: string, text: string): Promise<void> => {
  const { messageId } = await readBy(number, text);
  await device.message((message) => message.messageId === messageId, `${text} on the linked device`);
};

/** Sends two texts. The first one to a stranger goes to the number and returns the LID; the second one caches the devices of the LID. */
const remembered = async (number: string): Promise<void> => {
  await readBy(number, 'first');
  await readBy(number, 'second');
};

test('devices: the next text to a contact that linked a device reaches the device', async () => {
  const [friend] = friends;
  await remembered(friend);
  const device = await connected(bench, friend);
  await reaches(device, friend, 'after the device');
  assert.deepEqual(instance.surprises, []);
});

test('devices: without a notice, the ack of the next text says that a device is missing, and the text after it arrives', async () => {
  const [, friend] = friends;
  await remembered(friend);
  await bench.running.sandbox.fault({ kind: 'silentDevices', number: friend });
  const device = await connected(bench, friend);
  await readBy(friend, 'to the phone alone');
  await reaches(device, friend, 'to both');
});

test('devices: the next text reaches the device that replaced another one', async () => {
  const [, , friend] = friends;
  const { sandbox } = bench.running;
  const old = await connected(bench, friend);
  await reaches(old, friend, 'while the old one is linked');
  await sandbox.logout(friend);
  await old.fact('platform.closed');
  await readBy(friend, 'to the phone alone');
  await reaches(await connected(bench, friend), friend, 'to the phone and the new one');
});

/** Runs a session whose cache knows the phone of a contact and the devices of the account. */
const heard = async (jids: readonly string[]) => {
  const listeners: ((node: object) => void)[] = [];
  const fetched: string[] = [];
  const cache = new DeviceCache();
  for (const jid of jids) {
    const [user = '', server = ''] = jid.split('@');
    await cache.mget?.([user]);
    await cache.mset?.([{ key: user, value: [{ user, server, device: 0 }] }]);
  }
  followAcks({
    sock: {
      authState: { creds: { me: { id: '1:2@s.whatsapp.net', lid: '100:2@lid' } } },
      userDevicesCache: cache,
      ws: { on: (_name: string, listener: (node: object) => void) => listeners.push(listener) },
    } as unknown as FollowedAcks['sock'],
    directory: { lid: () => '', pn: () => '' },
    transmissions: { acknowledged: () => undefined, failed: () => undefined },
    groups: {
      metadata: async () => ({ participants: [{ id: '100@lid' }, { id: '200@lid' }] }) as never,
      fetch: async (jid) => void fetched.push(jid) as never,
    },
    stumbled: (error) => assert.fail(String(error)),
  });
  const ack = async (attrs: Record<string, string>): Promise<void> => {
    for (const listener of listeners) listener({ attrs });
    await new Promise(setImmediate);
  };
  return { cache, fetched, ack };
};

const hash = (...names: string[]): string =>
  `2:${createHash('sha256').update(names.toSorted().join('')).digest().subarray(0, 6).toString('base64').replaceAll('=', '')}`;

test('devices: lists stay if the hash of the ack matches, or if the message was refused', async () => {
  const { cache, ack } = await heard(['100@lid', '200@lid']);
  await ack({ from: '200@lid', phash: hash('100.0:0@lid', '100.0:2@lid', '200.0:0@lid') });
  await ack({ from: '200@lid', phash: '2:anything', error: '479' });
  assert.ok(cache.get('200') && cache.get('100'));
  await ack({ from: '200@lid', phash: hash('100.0:0@lid', '100.0:2@lid', '200.0:0@lid', '200.0:1@lid') });
  assert.deepEqual([cache.get('200'), cache.get('100')], [undefined, undefined]);
});

test('devices: a group whose list is wrong is queried again, once a minute', async () => {
  const { cache, ack, fetched } = await heard(['100@lid', '200@lid']);
  await ack({ from: '1-2@g.us', phash: hash('100.0:0@lid', '100.0:2@lid', '200.0:0@lid') });
  assert.deepEqual([fetched, cache.get('200') === undefined], [[], false]);
  await ack({ from: '1-2@g.us', phash: '2:other' });
  await ack({ from: '1-2@g.us', phash: '2:other' });
  assert.deepEqual([fetched, cache.get('200')], [['1-2@g.us'], undefined]);
});

test('devices: a list that was requested before a notice of a change is not cached', async () => {
  const cache = new DeviceCache();
  await cache.mget?.(['200']);
  cache.del('200');
  await cache.mset?.([{ key: '200', value: ['old'] }]);
  assert.equal(cache.get('200'), undefined);
  await cache.mget?.(['200']);
  await cache.mset?.([{ key: '200', value: ['new'] }]);
  assert.deepEqual(cache.get('200'), ['new']);
});
