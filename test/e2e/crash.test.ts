/** Kills the gateway at critical times. The next start needs no manual repair, and nothing that was accepted is lost. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { contact, Scene } from '#test/support/scene.ts';
import { startTraffic } from '#test/support/traffic.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

const killAndStart = async (): Promise<void> => {
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
};

test('kill: a pairing that only showed its QR code starts anew', async () => {
  const account = await scene.create();
  await account.connect();
  await until(async () => (await account.seen()).qrcode !== '', 'a picture');
  await killAndStart();
  assert.equal((await account.seen()).status, 'disconnected');
  await account.pair(scene.platform);
  await scene.works(account);
});

// Between the scan and the login lie the storing of credentials and a restart of the connection.
for (const ms of [0, 60, 250]) {
  test(`kill: ${ms} ms after the phone scanned the picture leaves a session that works or can be paired`, async () => {
    const account = await scene.create();
    await account.scan(scene.platform);
    await wait(ms);
    await killAndStart();
    await account.finishes(scene.platform);
    await scene.works(account);
  });
}

test('kill: right after the pairing the session returns without another pairing', async () => {
  const account = await scene.paired();
  const { pairings } = scene.platform.sandbox.stats();
  await killAndStart();
  await account.reaches('connected');
  await scene.works(account);
  assert.equal(scene.platform.sandbox.stats().pairings, pairings);
});

test('kill: texts flow both ways, and afterwards each answered or written text exists once', async () => {
  const account = await scene.paired();
  await scene.works(account);
  for (const ms of [150, 600]) {
    const flow = startTraffic(scene, account);
    await until(() => flow.answered.size > 5, 'texts flow');
    await wait(ms);
    await scene.gateway.end('SIGKILL');
    await flow.stop();
    await scene.gateway.start();
    await account.reaches('connected');
    await scene.works(account);
    assert.deepEqual([...flow.failures], []);
    await scene.stored(account, [...flow.answered.values(), ...flow.written]);
    await scene.told(flow.written);
    const read = scene.readBy(contact);
    assert.deepEqual(
      [...flow.answered.keys()].filter((text) => !read.has(text)),
      [],
      'answered, and never read by the contact',
    );
    await until(
      async () => !(await account.messages(contact)).some(({ fromMe, status }) => fromMe && status === 'Queued'),
      'nothing of an earlier run waits for ever',
    );
  }
  const { undecryptable, retryReceipts } = scene.platform.sandbox.stats().messages;
  assert.deepEqual({ undecryptable, retryReceipts }, { undecryptable: 0, retryReceipts: 0 });
});

test('kill: messages of the contact during the downtime are stored and reported after the start', async () => {
  const account = await scene.paired();
  await scene.works(account);
  await scene.gateway.end('SIGKILL');
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push(await scene.write(account, `${n} while down`));
  await scene.gateway.start();
  await scene.stored(account, ids);
  await scene.told(ids);
});

test('kill: waiting webhook deliveries arrive after the start', async () => {
  const account = await scene.paired();
  const { refused } = scene.receiver;
  scene.receiver.answer(503);
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push(await scene.write(account, `${n} while nobody listens`));
  await scene.stored(account, ids);
  await until(() => scene.receiver.refused > refused, 'an attempt failed');
  await scene.gateway.end('SIGKILL');
  scene.receiver.answer(200);
  await scene.gateway.start();
  await scene.told(ids);
});

test('kill: a start that is killed at any moment affects no later one', async () => {
  const account = await scene.paired();
  for (const ms of [50, 300, 700, 1300]) {
    await scene.gateway.end('SIGKILL');
    scene.gateway.launch();
    await wait(ms);
  }
  await killAndStart();
  await account.reaches('connected');
  await scene.works(account);
});

test('stop: SIGTERM right after a pairing ends in time, leaves nothing behind, and the session returns', async () => {
  const account = await scene.paired();
  scene.gateway.signal('SIGTERM');
  await scene.gateway.prints(/service\.stopped/);
  // The library leaves a timer of half a minute behind each pairing, for which the process does not wait.
  assert.equal(await scene.gateway.endsWithin(15_000), 0, scene.gateway.printed);
  assert.deepEqual(scene.gateway.databases, []);
  assert.equal(existsSync(join(scene.gateway.dataDir, 'gateway.pid')), false);
  await until(() => scene.platform.sandbox.stats().connections.open === 0, 'the platform has no connection');
  await scene.gateway.start();
  await account.reaches('connected');
  await scene.works(account);
});

test('stop: a signal that arrives twice at once, as from a process group under npm, is one stop', async () => {
  const account = await scene.paired();
  scene.gateway.signal('SIGTERM');
  assert.equal(await scene.gateway.end('SIGTERM'), 0, scene.gateway.printed);
  assert.deepEqual(scene.gateway.databases, []);
  await scene.gateway.start();
  await account.reaches('connected');
});

test('stop: gateway.pid is deleted by the process that wrote it, and by no other', async () => {
  const path = join(scene.gateway.dataDir, 'gateway.pid');
  assert.equal(readFileSync(path, 'utf8'), `${scene.gateway.pid}\n`);
  const successor = '2147483647\n';
  writeFileSync(path, successor);
  assert.equal(await scene.gateway.end('SIGTERM'), 0, scene.gateway.printed);
  assert.equal(readFileSync(path, 'utf8'), successor);
  await scene.gateway.start();
  assert.equal(readFileSync(path, 'utf8'), `${scene.gateway.pid}\n`);
});

test('stop: SIGTERM during traffic loses no answered text and no acknowledged message', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const flow = startTraffic(scene, account);
  await until(() => flow.answered.size > 20, 'texts flow');
  assert.equal(await scene.gateway.end('SIGTERM'), 0, scene.gateway.printed);
  await flow.stop();
  await scene.gateway.start();
  await account.reaches('connected');
  await scene.stored(account, [...flow.answered.values(), ...flow.written]);
  await scene.told(flow.written);
});

test('pause: a paused process that continues receives all messages written meanwhile', async () => {
  const account = await scene.paired();
  await scene.works(account);
  scene.gateway.signal('SIGSTOP');
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push(await scene.write(account, `${n} while stopped`));
  await wait(2_000);
  scene.gateway.signal('SIGCONT');
  await scene.stored(account, ids);
  await scene.told(ids);
  await scene.works(account);
});

test('kill: through all of this no account had two connections, and the platform got no unknown request', () => {
  const { logins, unknown, messages } = scene.platform.sandbox.stats();
  assert.equal(logins.double, 0);
  assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
  assert.deepEqual(unknown, {});
});
