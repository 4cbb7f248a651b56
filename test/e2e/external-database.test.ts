/** Tests a separate database server, given by DATABASE_URL. The server or the gateway or both are killed, and nothing that was accepted is lost. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import { ExternalServer, password } from '#test/support/external-server.ts';
import { answersInAnOutage } from '#test/support/outage.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { startTraffic, steady, type Traffic } from '#test/support/traffic.ts';
import { until } from '#test/support/until.ts';

let server: ExternalServer;
let scene: Scene;
before(async () => {
  server = await ExternalServer.open();
  scene = await Scene.open({ DATABASE_URL: server.url });
});
after(async () => {
  await scene?.close();
  await server?.close();
});

/** The time-out of waits, in milliseconds. The machine may be busy with other tests. */
const patience = 120_000;

const readiness = async (): Promise<number> => (await scene.gateway.call('GET', '/health/ready')).status;

/** Waits until a query succeeds. The first query on an old connection may still fail. */
const recovered = async (account: Account): Promise<void> => {
  await until(async () => (await account.call('POST', '/message/find', {})).status === 200, 'the gateway finds messages', patience);
  await until(async () => (await readiness()) === 200, 'the gateway is ready', patience);
};

const grows = async (what: string, size: () => number): Promise<void> => {
  const from = size();
  await until(() => size() >= from + 5, what, patience);
};

/** Asserts that each text that was answered or written exists once, was reported, and could be read. */
const nothingLost = async (account: Account, { answered, written }: Traffic): Promise<void> => {
  await scene.stored(account, [...answered.values(), ...written], patience);
  await scene.told(written, patience);
  await until(
    () => {
      const read = scene.readBy(contact);
      return [...answered.keys()].every((text) => read.has(text));
    },
    () => `the contact reads all ${answered.size} texts that were answered`,
    patience,
  );
};

test('external: a server that is killed under traffic fails requests, and costs no session', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const logins = scene.logins(account);
  const flow = startTraffic(scene, account, steady);
  for (let death = 0; death < 2; death += 1) {
    await grows('texts flow', () => flow.answered.size);
    await server.kill();
    await until(async () => (await readiness()) === 503, 'the outage is noticed', patience);
    await until(() => flow.failures.has(503), 'a text is refused', patience);
    await grows('the contact writes into the outage', () => flow.written.length);
    await server.start();
    await recovered(account);
  }
  await grows('texts flow again', () => flow.answered.size);
  await flow.stop();
  assert.deepEqual([...flow.failures], [503]);
  await nothingLost(account, flow);
  assert.equal(scene.logins(account), logins);
  await scene.works(account);
});

test('external: while the server is away requests get 503, and arriving messages are stored and reported once afterwards', async () => {
  const account = await scene.paired();
  const { token } = await scene.paired();
  await scene.works(account);
  const logins = scene.logins(account);
  const ids: string[] = [];
  await server.kill();
  await until(async () => (await readiness()) === 503, 'the outage is noticed', patience);
  await answersInAnOutage(scene.gateway, token, async (path) => void ids.push(await scene.write(account, `into an outage: ${path}`)));
  assert.equal((await scene.gateway.call('GET', '/health')).status, 200);
  assert.equal((await account.seen()).status, 'connected');
  const away = scene.gateway.printed.split('\n').findLast((line) => line.includes('storage.unavailable')) ?? '';
  assert.match(away, /"address":"postgres(?:ql)?:\/\/[^"]+","setting":"DATABASE_URL"/);
  assert.ok(!scene.gateway.printed.includes(password));
  await server.start();
  await recovered(account);
  await scene.stored(account, ids, patience);
  await scene.told(ids, patience);
  assert.equal(scene.logins(account), logins);
  await scene.works(account);
});

test('external: after a kill the gateway restores its sessions from the same server, without a pairing', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const { pairings } = scene.platform.sandbox.stats();
  for (const pause of [0, 200]) {
    const flow = startTraffic(scene, account, steady);
    await grows('texts flow', () => flow.answered.size);
    await wait(pause);
    await scene.gateway.end('SIGKILL');
    await scene.gateway.start();
    await flow.stop();
    await account.reaches('connected', patience);
    assert.deepEqual([...flow.failures], []);
    await nothingLost(account, flow);
    await scene.works(account);
  }
  assert.equal(scene.platform.sandbox.stats().pairings, pairings);
});

for (const first of ['server', 'gateway'] as const)
  test(`external: both are killed, the ${first} first; without a server the gateway does not start, with it everything is back`, async () => {
    const account = await scene.paired();
    await scene.works(account);
    const { pairings } = scene.platform.sandbox.stats();
    const flow = startTraffic(scene, account, steady);
    await grows('texts flow', () => flow.answered.size);
    const ends = { server: () => server.kill(), gateway: () => scene.gateway.end('SIGKILL') };
    await ends[first]();
    await ends[first === 'server' ? 'gateway' : 'server']();
    await grows('the contact writes while nobody is there', () => flow.written.length);
    scene.gateway.launch();
    assert.equal(await scene.gateway.endsWithin(patience), 1, scene.gateway.printed);
    assert.match(scene.gateway.printed, /^Dormouse could not start: the database is not available/m);
    assert.ok(!scene.gateway.printed.includes(password));
    await server.start();
    await scene.gateway.start();
    await flow.stop();
    await account.reaches('connected', patience);
    await nothingLost(account, flow);
    await scene.works(account);
    assert.equal(scene.platform.sandbox.stats().pairings, pairings);
  });

test('external: SIGTERM right after a pairing ends in time, and does not stop the separate server', async () => {
  const account = await scene.paired();
  const { pairings } = scene.platform.sandbox.stats();
  const servers = server.pids;
  scene.gateway.signal('SIGTERM');
  await scene.gateway.prints(/service\.stopped/);
  // The library leaves a timer of half a minute behind each pairing, for which the process does not wait.
  assert.equal(await scene.gateway.endsWithin(15_000), 0, scene.gateway.printed);
  assert.deepEqual(server.pids, servers);
  assert.equal(existsSync(join(scene.gateway.dataDir, 'gateway.pid')), false);
  await until(() => scene.platform.sandbox.stats().connections.open === 0, 'the platform has no connection');
  await scene.gateway.start();
  await account.reaches('connected', patience);
  await scene.works(account);
  assert.equal(scene.platform.sandbox.stats().pairings, pairings);
});

test('pause: after a pause beyond all time-outs sessions return one login at a time, with all messages', async () => {
  const [kept, cut] = [await scene.paired(), await scene.paired()];
  await scene.gateway.end('SIGTERM');
  // A text on a connection that the platform gave up is lost, and its send ends soon.
  await scene.gateway.start({ FRAME_SILENCE_MS: '6000', SEND_TIMEOUT_MS: '5000' });
  for (const account of [kept, cut]) {
    await account.reaches('connected', patience);
    await scene.works(account);
  }
  const logins = [scene.logins(kept), scene.logins(cut)];
  const ids: Record<'kept' | 'cut', string[]> = { kept: [], cut: [] };
  const writeToBoth = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) {
      ids.kept.push(await scene.write(kept, `${n} while stopped`));
      ids.cut.push(await scene.write(cut, `${n} while stopped`));
    }
  };
  scene.gateway.signal('SIGSTOP');
  await writeToBoth();
  // The platform drops one of the connections. The other one still seems open.
  await scene.platform.sandbox.fault({ kind: 'reset', number: cut.number });
  await writeToBoth();
  await wait(8_000);
  assert.deepEqual([scene.logins(kept), scene.logins(cut)], logins);
  scene.gateway.signal('SIGCONT');
  await until(() => scene.logins(cut) > logins[1]!, 'the one that was given up logs in again', patience);
  for (const [account, written] of [
    [kept, ids.kept],
    [cut, ids.cut],
  ] as const) {
    await scene.stored(account, written, patience);
    await scene.told(written, patience);
    // The other session may be replacing its old connection at this moment.
    await until(async () => (await account.send(contact, 'after the pause')).status === 200, 'a text is sent', patience);
    await scene.stored(account, [await scene.write(account, 'after the pause')], patience);
  }
});

test('external: through all of this no account had two connections, and the password of the server was not printed', () => {
  const { logins, unknown, messages } = scene.platform.sandbox.stats();
  assert.equal(logins.double, 0);
  assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
  assert.deepEqual(unknown, {});
  assert.ok(!scene.gateway.printed.includes(password));
});
