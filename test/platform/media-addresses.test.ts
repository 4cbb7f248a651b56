/** Tests paths of files, which senders choose. No path leads the gateway away from the media hosts of the platform. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type LookupFunction } from 'node:net';
import { after, before, test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import { Agent } from 'undici';
import type { Message } from '#actors/model.ts';
import type { LiveConnection } from '#src/platform/outbound/live-connection.ts';
import { addressOn, download } from '#src/platform/outbound/download.ts';
import { directRoute } from '#src/platform/proxy/route.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000931';
const friend = '5511900000932';
let reached = 0;
const inside = createServer((socket) => {
  reached += 1;
  socket.destroy();
});

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
  await once(inside.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  inside.close();
  await bench.stop();
});

const addresses: readonly (readonly [string, string | null])[] = [
  ['/v/file?ccb=1&oh=a', 'https://mmg.whatsapp.net/v/file?ccb=1&oh=a'],
  ['/v/../file', 'https://mmg.whatsapp.net/file'],
  ['/v/a@b', 'https://mmg.whatsapp.net/v/a@b'],
  ['@127.0.0.1:3000/x', null],
  ['.example.org/x', null],
  [':3000/x', null],
  ['//127.0.0.1/x', null],
  ['/\\127.0.0.1/x', null],
  ['/\t/127.0.0.1/x', null],
  ['\n//127.0.0.1/x', null],
  ['https://127.0.0.1/x', null],
  ['v/file', null],
  ['', null],
];
for (const [path, expected] of addresses)
  test(`media: the path ${JSON.stringify(path)}`, () => assert.equal(addressOn('mmg.whatsapp.net', path), expected));

const pathsTo = (port: number): readonly string[] => [`@127.0.0.1:${port}/x`, `//127.0.0.1:${port}/x`, `/\\127.0.0.1:${port}/x`];

test('media: a message whose path leads to this machine reaches nothing', async () => {
  const { sandbox } = bench.running;
  const bytes = Buffer.alloc(32, 7).toString('base64');
  for (const directPath of pathsTo((inside.address() as AddressInfo).port)) {
    const imageMessage = {
      directPath,
      url: '',
      mimetype: 'image/jpeg',
      mediaKey: bytes,
      fileSha256: bytes,
      fileEncSha256: bytes,
      fileLength: 10,
    };
    const { id } = await sandbox.send(friend, own, { kind: 'message', message: { imageMessage } });
    const message = await instance.message(({ messageId }) => messageId === id, 'the message');
    const control = { signal: new AbortController().signal, deadline: Date.now() + 20_000 };
    const outcome = await instance.link.perform({ name: 'message.download', input: { message, quoted: false } }, control);
    assert.match(outcome.ok ? '' : outcome.refusal.message, /its path leads away from the media hosts/);
  }
  assert.equal(reached, 0);
});

test('media: hosts that only a message names are resolved by the guard, on a direct route', () => {
  const [dispatcher, guarded] = [new Agent(), new Agent()];
  const route = directRoute(null, dispatcher, guarded);
  assert.deepEqual([route.guarded === guarded, route.dispatcher === dispatcher], [true, true]);
});

test('media: a host that only a message names, and that leads to this machine, gets no connection', async (t) => {
  const resolved: string[] = [];
  const guard = new AddressGuard({
    allow: [],
    resolve: (host, _options, done) => {
      resolved.push(host);
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    },
  });
  const unguarded: string[] = [];
  const lookup: LookupFunction = (host, _options, done) => {
    unguarded.push(host);
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  const [guarded, dispatcher] = [guard.lookup, lookup].map((one) => new Agent({ allowH2: false, connect: { lookup: one } }));
  t.after(() => Promise.all([guarded?.destroy(), dispatcher?.destroy()]));
  const failures: string[] = [];
  guarded?.on('connect', () => assert.fail('a connection'));
  guarded?.on('connectionError', (_origin, _targets, error) => void failures.push(error.name));
  const receive: LiveConnection['downloads']['receive'] = async (bytes) => {
    for await (const _ of bytes) assert.fail('a byte');
    return assert.fail('a file');
  };
  const connection = {
    // The platform offers no media host from now on.
    sock: { refreshMediaConn: async () => ({ hosts: [] }) },
    downloads: { instance: 'r1', receive, most: 1e6, silenceMs: 5_000, phoneMs: 1_000, dispatcher, guarded },
  } as unknown as LiveConnection;
  const mediaKey = Buffer.alloc(32, 7);
  const imageMessage = {
    url: 'https://x.whatsapp.net/v/file',
    directPath: '/v/file',
    mediaKey,
    fileSha256: mediaKey,
    mimetype: 'image/jpeg',
  };
  const message = { raw: proto.Message.encode({ imageMessage }).finish() } as unknown as Message;
  const answer = await download(connection, { message, quoted: false }, { signal: AbortSignal.timeout(20_000) });
  assert.equal(answer.ok, false);
  assert.deepEqual([resolved, unguarded], [['x.whatsapp.net', 'mmg.whatsapp.net'], []]);
  assert.deepEqual(failures, ['AddressRefused', 'AddressRefused']);
});

test('media: a file without encryption and without a hash is refused and deleted', async () => {
  let discarded = 0;
  const taken = { path: '', size: 3, hash: 'ab', mimetype: 'image/jpeg', filename: '', discard: async () => void (discarded += 1) };
  const connection = {
    sock: { refreshMediaConn: async () => ({ hosts: [] }) },
    downloads: { receive: async () => ({ ok: true, value: taken }), most: 1e6, silenceMs: 5_000, phoneMs: 1_000 },
  } as unknown as LiveConnection;
  const imageMessage = { url: 'https://mmg.whatsapp.net/v/file', directPath: '/v/file', mimetype: 'image/jpeg' };
  const message = { raw: proto.Message.encode({ imageMessage }).finish() } as unknown as Message;
  const answer = await download(connection, { message, quoted: false }, { signal: AbortSignal.timeout(20_000) });
  assert.match(answer.ok ? '' : answer.refusal.message, /an unencrypted file has no hash/);
  assert.equal(discarded, 1);
});
