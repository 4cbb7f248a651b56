/** Kills the embedded database server, and starts two gateways on the same data. Requests fail, sessions stay, and nothing is lost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { answersInAnOutage } from '#test/support/outage.ts';
import { signalTo } from '#test/support/processes.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { patience, until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

/** Kills the database servers of the gateway, and returns the process ids of the killed ones. */
const killDatabase = (): readonly number[] => scene.gateway.databases.filter((pid) => signalTo(pid, 'SIGKILL'));

const status = async (path: string): Promise<number> => (await scene.gateway.call('GET', path)).status;

/** Waits until a new database server runs and the gateway uses it. The first query on an old connection may still fail. */
const revived = async (dead: readonly number[], account: Account): Promise<void> => {
  await until(() => scene.gateway.databases.some((pid) => !dead.includes(pid)), 'the database server runs again');
  await until(async () => (await account.call('POST', '/message/find', {})).status === 200, 'the gateway finds messages');
  await until(async () => (await status('/health/ready')) === 200, 'the gateway is ready');
};

/** Runs `work` while the database is down, because each new server is killed at once. */
const whileDown = async (account: Account, work: () => Promise<void>): Promise<void> => {
  killDatabase();
  const timer = setInterval(killDatabase, 20);
  try {
    await until(async () => (await status('/health/ready')) === 503, 'the outage is noticed');
    await work();
  } finally {
    clearInterval(timer);
    await revived(killDatabase(), account);
  }
};

test('outage: while the database is down requests get 503 and sessions stay connected, and messages that arrive are stored and reported later', async () => {
  const account = await scene.paired();
  const { token } = await scene.paired();
  await scene.works(account);
  const before = scene.logins(account);
  const ids: string[] = [];
  await whileDown(account, async () => {
    await answersInAnOutage(scene.gateway, token, async (path) => void ids.push(await scene.write(account, `into an outage: ${path}`)));
    assert.equal(await status('/health'), 200);
    assert.equal((await account.seen()).status, 'connected');
  });
  await scene.stored(account, ids);
  await scene.told(ids);
  await scene.works(account);
  assert.equal(scene.logins(account), before);
});

test('outage: requests get 200 or 503 when the database dies under load, and each message that got 200 is stored', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const before = scene.logins(account);
  const answered: string[] = [];
  const statuses = new Set<number>();
  const state = { going: true };
  const lane = async (name: number): Promise<void> => {
    for (let n = 0; state.going; n += 1) {
      const { status, body } = await account.send(contact, `${name}.${n} through deaths`);
      statuses.add(status);
      if (status === 200) answered.push(String(body['messageid']));
    }
  };
  const lanes = Promise.all([lane(1), lane(2)]);
  const ids: string[] = [];
  for (let death = 0; death < 3; death += 1) {
    const dead = killDatabase();
    for (let n = 0; n < 10; n += 1) ids.push(await scene.write(account, `${death}.${n} through deaths`));
    await revived(dead, account);
  }
  state.going = false;
  await lanes;
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 503),
    [],
  );
  await scene.stored(account, [...answered, ...ids]);
  await scene.told(ids);
  assert.equal(scene.logins(account), before);
  await scene.works(account);
});

test('outage: a gateway that is killed while the database is down loses nothing that was stored before', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const known = (await account.messages(contact)).map(({ messageid }) => messageid);
  killDatabase();
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
  await scene.stored(account, known);
  await scene.works(account);
});

test('outage: a pairing during repeated database failures ends connected or can be started again', async () => {
  const account = await scene.create();
  await account.scan(scene.platform);
  await revived(killDatabase(), account);
  await account.finishes(scene.platform);
  // For a moment a send may still get the error of the outage.
  await until(async () => (await account.send(contact, 'once more')).status === 200, 'a text is sent');
  await scene.works(account);
});

test('two gateways: a second gateway on the same data refuses to start, and the first one continues', async () => {
  const account = await scene.paired();
  const before = scene.logins(account);
  const second = new GatewayProcess({ platformUrl: scene.platform.url }, scene.gateway.dataDir);
  try {
    second.launch();
    assert.equal(await second.endsWithin(patience), 1, second.printed);
    assert.match(second.printed, /^Dormouse could not start: Another gateway uses this database/m);
  } finally {
    await second.end();
  }
  await scene.works(account);
  assert.equal(scene.logins(account), before);
  assert.equal(scene.platform.sandbox.stats().logins.double, 0);
  assert.doesNotMatch(scene.gateway.printed, /unhandledRejection|crashed|surprised/);
});
