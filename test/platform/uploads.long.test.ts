/** Tests uploads to a media host that refuses, is slow, drops the upload permission, or breaks off: the result, and the number of sends. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Fault } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import { MediaScene } from './media-scene.ts';
import { connected, folder, uploadLimits } from './setup.ts';

let scene: MediaScene;
before(async () => {
  scene = await MediaScene.open('5511900000821');
});
after(() => scene.close());

const faults = ['uploadRefused', 'uploadUnauthorised', 'uploadSlow', 'uploadCut'] as const;
beforeEach(async () => {
  for (const kind of faults) await scene.fault(kind, { times: 0 });
});
// The encrypted copy of an upload is deleted in every case.
afterEach(async () => assert.deepEqual(await readdir(folder.path), []));

/** A size above which the upload asks for its progress before it is repeated. */
const large = 6 * 1024 * 1024;
const tooSlow = uploadLimits.silenceMs * 2;

interface Row {
  readonly title: string;
  readonly fault: Fault;
  readonly bytes?: number;
  /** True if the second host got the file; null if no host got it. */
  readonly second: boolean | null;
  readonly resumed?: boolean;
  readonly says?: RegExp;
  /** The code of the last host; absent if the host gave none. */
  readonly code?: number;
}

const rows: readonly Row[] = [
  { title: 'a host that refuses', fault: { kind: 'uploadRefused', code: 507 }, second: true },
  {
    title: 'two hosts that refuse',
    fault: { kind: 'uploadRefused', code: 507, times: 2 },
    second: null,
    says: /^Failed to upload media: 127\.0\.0\.1:\d+ answered 507, localhost:\d+ answered 507$/,
    code: 507,
  },
  { title: 'a right that has run out', fault: { kind: 'uploadUnauthorised' }, second: false },
  {
    title: 'a right that runs out again and again',
    fault: { kind: 'uploadUnauthorised', times: 9 },
    second: null,
    says: /answered 401, localhost:\d+ answered 401$/,
    code: 401,
  },
  { title: 'a host that breaks off', fault: { kind: 'uploadCut' }, second: true },
  { title: 'a host that breaks off in a large file', fault: { kind: 'uploadCut' }, bytes: large, second: true, resumed: true },
  {
    title: 'hosts that break off',
    fault: { kind: 'uploadCut', times: 2 },
    bytes: large,
    second: null,
    says: /broke the connection.*, localhost:\d+ broke the connection/,
  },
  { title: 'a host that takes nothing', fault: { kind: 'uploadSlow', ms: tooSlow }, bytes: large, second: true },
  {
    title: 'hosts that take nothing',
    fault: { kind: 'uploadSlow', ms: tooSlow, times: 9 },
    bytes: large,
    second: null,
    says: /took nothing for 3 seconds, localhost/,
  },
];

for (const { title, fault, bytes = 50_000, second, resumed = false, says, code } of rows) {
  test(`upload: ${title}`, async () => {
    const earlier = scene.media;
    const file = await scene.file(bytes);
    await scene.fault(fault.kind, fault);
    const composed = await scene.compose(scene.sendOf({ as: 'document', file }));
    const now = scene.media;
    const fresh = Object.keys(now.uploadsByHost).filter((host) => now.uploadsByHost[host] !== earlier.uploadsByHost[host]);
    if (second === null) {
      assert.equal(composed.ok, false);
      assert.equal(composed.refusal.reason, 'refused');
      assert.match(composed.refusal.message, says ?? /never/);
      assert.equal(composed.refusal.code, code);
      assert.deepEqual(fresh, []);
      return;
    }
    assert.ok(composed.ok, composed.ok ? '' : composed.refusal.message);
    assert.deepEqual(
      fresh.map((host) => host.startsWith('localhost')),
      [second],
    );
    assert.equal(now.resumed - earlier.resumed, resumed ? 1 : 0);
    assert.equal((await scene.perform('message.transmit', { message: composed.value })).ok, true);
    const seen = scene.bench.running.sandbox.received('5511900000812').find(({ id }) => id === composed.value.messageId);
    assert.equal(seen?.media?.sha256, file.hash);
  });
}

test('upload: the same bytes to ten people, at once and later, are one upload, and another kind needs another upload', async () => {
  const file = await scene.file(100_000);
  const earlier = scene.media.uploads;
  const numbers = Array.from({ length: 10 }, (_, at) => `55119000009${at}0`);
  const sends = numbers.map((number) => scene.compose(scene.sendOf({ as: 'document', file }, { number })));
  for (const composed of await Promise.all(sends)) assert.ok(composed.ok);
  assert.ok((await scene.compose(scene.sendOf({ as: 'document', file: { ...file, name: 'gone' } }))).ok, 'not even the file is needed');
  assert.equal(scene.media.uploads - earlier, 1);
  assert.ok((await scene.compose(scene.sendOf({ as: 'image', file }))).ok);
  assert.equal(scene.media.uploads - earlier, 2);
});

test('upload: another account uploads the same bytes separately', async () => {
  const other = await connected(scene.bench, '5511900000822');
  const file = await scene.file(1_000);
  const send = scene.sendOf({ as: 'document', file });
  const earlier = scene.media.uploads;
  assert.ok((await scene.compose(send)).ok);
  assert.ok((await scene.perform('message.compose', { send, draft: null }, undefined, other)).ok);
  assert.equal(scene.media.uploads - earlier, 2);
});

test('upload: the next connection reuses an upload of an earlier one', async () => {
  const file = await scene.file(1_000);
  const send = scene.sendOf({ as: 'document', file });
  assert.ok((await scene.compose(send)).ok);
  const earlier = scene.media.uploads;
  await scene.instance.link.close();
  scene.instance.open();
  await scene.instance.fact('platform.opened');
  assert.ok((await scene.compose(send)).ok);
  assert.equal(scene.media.uploads, earlier);
});

test('upload: the end of a connection ends its uploads, and nothing was sent', async () => {
  const file = await scene.file(large);
  await scene.fault('uploadSlow', { ms: 700, times: 2 });
  const composing = scene.compose(scene.sendOf({ as: 'document', file }));
  await scene.instance.link.close();
  const composed = await composing;
  assert.equal(composed.ok, false);
  assert.deepEqual([composed.refusal.reason, composed.refusal.connectionLost], ['notSent', true]);
  scene.instance.open();
  await scene.instance.fact('platform.opened');
  await until(async () => (await scene.compose(scene.sendOf({ as: 'document', file }))).ok, 'the next connection uploads it');
});

test('upload: a file that is no longer stored is refused', async () => {
  const file = { ...(await scene.file(10)), name: 'nowhere' };
  const composed = await scene.compose(scene.sendOf({ as: 'image', file }));
  assert.equal(!composed.ok && composed.refusal.reason, 'notFound');
});
