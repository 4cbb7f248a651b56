/** Tests `POST /admin/restart`. The service restarts inside its process, and nothing that was accepted is lost or repeated. */
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { ExternalServer } from '#test/support/external-server.ts';
import { GatewayProcess, type Answer } from '#test/support/gateway.ts';
import { freePort } from '#test/support/ports.ts';
import { signalTo } from '#test/support/processes.ts';
import { readStream } from '#test/support/receivers.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { startTraffic, steady } from '#test/support/traffic.ts';
import { until } from '#test/support/until.ts';

const restarts = 3;
/** The longest wait for the gateway, long enough for a busy machine. In milliseconds. */
const patience = 120_000;

let scene: Scene;
before(async () => {
  // The service listens on the same port after each restart, so no other test may use this port meanwhile.
  scene = await Scene.open({ PORT: String(await freePort()), WAKE_TIMEOUT_MS: '40000' });
});
after(() => scene.close());

const restart = (gateway: GatewayProcess): Promise<Answer> => gateway.call('POST', '/admin/restart');

const restarted = ({ printed }: GatewayProcess): number => printed.split('"service.restarted"').length - 1;

/** Restarts the service, and waits until the next one listens. */
const restartWhole = async (gateway: GatewayProcess): Promise<void> => {
  const before = restarted(gateway);
  const { status, body } = await restart(gateway);
  assert.deepEqual([status, body], [202, { message: 'The service restarts' }]);
  await until(
    () => restarted(gateway) > before,
    () => `the service has started again:\n${gateway.printed}`,
    patience,
  );
};

const times = (all: readonly unknown[], one: unknown): number => all.filter((other) => other === one).length;

/** Returns the ids of the messages that the receiver got, once for each delivery. */
const toldIds = (): readonly unknown[] =>
  scene.receiver.posted
    .filter(({ type }) => type === 'messages')
    .map(({ body }) => (body['message'] as { readonly messageid?: string } | undefined)?.messageid);

const arrivesOnce = async (account: Account, answered: ReadonlyMap<string, string>, written: readonly string[]): Promise<void> => {
  await scene.stored(account, [...answered.values(), ...written], patience);
  await scene.told(written, patience);
  await until(() => [...answered.keys()].every((text) => scene.readBy(contact).has(text)), 'the contact reads every text', patience);
  const read = scene.platform.sandbox.received(contact).map(({ text }) => text);
  assert.deepEqual(
    [...answered.keys()].filter((text) => times(read, text) !== 1),
    [],
    'no text arrives twice',
  );
  const told = toldIds();
  assert.deepEqual(
    written.filter((id) => times(told, id) !== 1),
    [],
    'no event is posted twice',
  );
};

test('restart: a text that is sent before the session is connected again waits for the session', async () => {
  const accounts = await Promise.all([scene.paired(), scene.paired()]);
  await restartWhole(scene.gateway);
  const sent = await Promise.all(accounts.map((account) => account.send(contact, `just after the restart ${account.number}`)));
  assert.deepEqual(
    sent.map(({ status }) => status),
    [200, 200],
  );
});

test(`restart: texts go both ways through ${restarts} restarts, and each accepted text arrives exactly once`, async (t) => {
  const { gateway } = scene;
  const account = await scene.paired();
  await scene.works(account);
  const { pid, address } = gateway;
  const answered = new Map<string, string>();
  const written: string[] = [];
  const failures = new Set<number>();
  for (let round = 1; round <= restarts; round += 1) {
    const logins = scene.logins(account);
    const flow = startTraffic(scene, account, { ...steady, most: 100 });
    await until(() => flow.answered.size >= 15 && flow.written.length >= 15, 'texts flow', patience);
    await restartWhole(gateway);
    await account.reaches('connected', patience);
    await flow.stop();
    assert.equal(scene.logins(account), logins + 1, 'the session logs in once, and is not paired anew');
    for (const [text, id] of flow.answered) answered.set(text, id);
    written.push(...flow.written);
    for (const status of flow.failures) failures.add(status);
  }
  await arrivesOnce(account, answered, written);
  // While the sessions close, a send is refused. An accepted send is never lost.
  assert.deepEqual(
    [...failures].filter((status) => status !== 409 && status !== 503),
    [],
  );
  assert.deepEqual([gateway.pid, gateway.address, signalTo(pid, 0)], [pid, address, true]);
  assert.equal(gateway.databases.length, 1);
  const { logins, messages } = scene.platform.sandbox.stats();
  assert.deepEqual([logins.double, messages.undecryptable, messages.retryReceipts], [0, 0, 0]);
  assert.doesNotMatch(gateway.printed, /unhandledRejection|rashed|surprised|notClosed|MaxListeners/);
  await scene.works(account);
  t.diagnostic(`${answered.size} texts out, ${written.length} in, over ${restarts} restarts`);
});

/** Sends a request except its last byte. */
const begun = async (
  address: string,
  head: string,
): Promise<{ readonly socket: Socket; readonly finish: (rest: string) => Promise<string> }> => {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => void socket.once('connect', () => resolve(null)));
  socket.write(head);
  return {
    socket,
    finish: (rest) => {
      socket.write(rest);
      return readAll(socket);
    },
  };
};

test('restart: streams end, a running request is answered, and a second restart at the same time is refused with 409', async () => {
  const { gateway } = scene;
  const account = await scene.paired();
  const stream = await readStream(gateway.address, account.token, 'messages');
  const host = `Host: ${new URL(gateway.address).host}\r\n`;
  const sent = JSON.stringify({ number: contact, text: 'begun before the restart' });
  const head = `POST /send/text HTTP/1.1\r\n${host}token: ${account.token}\r\nContent-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n`;
  const text = await begun(gateway.address, head + sent.slice(0, -1));
  const second = await begun(gateway.address, `POST /admin/restart HTTP/1.1\r\n${host}`);
  // The gateway reads the heads of both requests before any later request.
  assert.equal((await gateway.call('GET', '/health')).status, 200);
  const before = restarted(gateway);
  assert.equal((await restart(gateway)).status, 202);
  await stream.ended;
  assert.match(await second.finish('admintoken: admin-token-of-the-e2e-tests\r\n\r\n'), /^HTTP\/1.1 409 [^]*"a restart is under way"/);
  assert.match(await text.finish(sent.slice(-1)), /^HTTP\/1.1 200 /);
  await until(() => restarted(gateway) > before, 'the service has started again', patience);
  await until(() => scene.readBy(contact).has('begun before the restart'), 'the contact reads the text');
  await account.reaches('connected', patience);
  await scene.works(account);
});

test('restart: SIGTERM during a restart ends the process in order', async () => {
  const { gateway } = scene;
  assert.equal((await restart(gateway)).status, 202);
  assert.equal(await gateway.end('SIGTERM'), 0, gateway.printed);
  assert.deepEqual([gateway.databases, existsSync(join(gateway.dataDir, 'gateway.pid'))], [[], false]);
  assert.doesNotMatch(gateway.printed, /unhandledRejection|notClosed/);
  await gateway.start();
});

/** Listens on the port as soon as it is free. */
const seize = async (port: number): Promise<Server> => {
  for (;;) {
    const server = createServer();
    const taken = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (taken) return server;
    // A refused `listen` fails without a turn of the event loop, so the loop has to pause.
    await wait(5);
  }
};

test('restart: a start that fails ends the process with code 1 and a printed reason, so that a supervisor notices', async () => {
  const { gateway } = scene;
  const port = Number(new URL(gateway.address).port);
  const seizing = seize(port);
  try {
    assert.equal((await restart(gateway)).status, 202);
    assert.equal(await gateway.endsWithin(patience), 1, gateway.printed);
  } finally {
    (await seizing).close();
  }
  assert.match(gateway.printed, new RegExp(`^Dormouse could not start: port ${port} of 127.0.0.1 is taken`, 'm'));
  assert.deepEqual([gateway.databases, globSync('**/*.pid', { cwd: gateway.dataDir })], [[], []]);
});

test('restart: a start without its database ends the process with code 1 and a printed reason', async () => {
  const server = await ExternalServer.open();
  const gateway = scene.another({ DATABASE_URL: server.url, ENCRYPTION_KEY: 'ab'.repeat(32) });
  try {
    await gateway.start();
    await restartWhole(gateway);
    await server.kill();
    assert.equal((await restart(gateway)).status, 202);
    assert.equal(await gateway.endsWithin(patience), 1, gateway.printed);
    assert.match(gateway.printed, /^Dormouse could not start: /m);
    assert.deepEqual(globSync('**/*.pid', { cwd: gateway.dataDir }), []);
  } finally {
    await gateway.close();
    await server.close();
  }
});

test('restart: the simulated platform that runs beside the gateway keeps running', async () => {
  const gateway = new GatewayProcess({});
  try {
    await gateway.start();
    const page = /Simulated phones: +(\S+)/.exec(gateway.printed)?.[1] ?? '';
    await restartWhole(gateway);
    assert.equal((await fetch(page)).status, 200);
    assert.equal((await gateway.call('GET', '/health')).status, 200);
    assert.doesNotMatch(gateway.printed, /sandbox\.ended/);
    assert.equal(await gateway.end('SIGTERM'), 0, gateway.printed);
    await assert.rejects(fetch(page));
  } finally {
    await gateway.close();
  }
});
