/** Runs a hundred instances through storms of faults, with a kill in one of them. Nothing is lost, doubled or left behind. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { Account, type InstanceSeen } from '#test/support/account.ts';
import { quietLog, testLimits } from '#test/support/database.ts';
import { assertTold, Flow } from '#test/support/flow.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { type Census, inspectable, takeCensus } from '#test/support/inspection.ts';
import { PlatformProcess } from '#test/support/platform-process.ts';
import { randomOf } from '#test/support/random.ts';
import { openReceiver, type Receiver } from '#test/support/receivers.ts';
import { calm, mostRefused, rage, type StormOptions } from '#test/support/storm.ts';
import { until } from '#test/support/until.ts';

const instances = 103;
/** The number of instances that their phones unlink in the first storm. */
const unlinkings = 3;
const pairingsAtOnce = 8;
const handshakes = { atOnce: 6, perSecond: 30 };
/** The time-out of waits. It is long, because the machine may be busy. In milliseconds. */
const patience = 120_000;

/** Settings of the gateway: short pauses, and time-outs that also allow for a busy machine. */
const clock = {
  RECONNECT_MIN_MS: '100',
  RECONNECT_MAX_MS: '1000',
  OPEN_DEADLINE_MS: '4000',
  LOGIN_DEADLINE_MS: '4000',
  CLOSE_DEADLINE_MS: '2000',
  FRAME_SILENCE_MS: '8000',
  SEND_TIMEOUT_MS: '4000',
  CONNECT_ANSWER_MS: '2000',
  CONNECTS_AT_ONCE: '1000',
  REPLACED_RETRY_MIN_MS: '300',
  REPLACED_RETRY_MAX_MS: '600',
  REPLACED_WINDOW_MS: '2000',
  HANDSHAKES_AT_ONCE: String(handshakes.atOnce),
  HANDSHAKES_PER_SECOND: String(handshakes.perSecond),
  CANARY_MIN_MS: '200',
  CANARY_MAX_MS: '400',
  WEBHOOK_QUICK_RETRIES_MS: '0,50,100',
  WEBHOOK_SLOW_RETRIES_MS: '200,400,800,1600,3200,6400',
  CIRCUIT_MIN_MS: '200',
  CIRCUIT_MAX_MS: '1000',
  LOG_LEVEL: 'warn',
};

const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);
const random = randomOf(seed);
const contacts = Array.from({ length: 10 }, (_, n) => `55119888800${n + 10}`);

let platform: PlatformProcess;
let gateway: GatewayProcess;
let receiver: Receiver;
let server: EmbeddedServer;
let database: Database;
let flow: Flow;
const accounts: Account[] = [];
const leaving = new Set<Account>();

before(async () => {
  platform = await PlatformProcess.start();
  receiver = await openReceiver();
  gateway = await new GatewayProcess({ platformUrl: platform.url, env: clock, nodeArgs: inspectable }).start();
  await gateway.call('POST', '/globalwebhook', { body: { url: receiver.url, events: ['messages', 'connection'] } });
  server = await EmbeddedServer.start({ dataDir: gateway.dataDir, log: quietLog });
  database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, application: 'soak', limits: testLimits });
});
after(async () => {
  await database?.close();
  await server?.close(false);
  await gateway?.close();
  await receiver?.close();
  await platform?.close();
});

type Seen = InstanceSeen & { readonly token: string };

const lookAround = async (): Promise<ReadonlyMap<string, Seen>> => {
  const { status, body } = await gateway.call('GET', '/instance/all');
  assert.equal(status, 200, JSON.stringify(body));
  return new Map((body as unknown as readonly Seen[]).map((one) => [one.token, one]));
};

/** Matches the reasons of a disconnect after which a person has to connect the session. */
const forAPerson = /^(?:400|402|403|406|409|411): /;

/** Connects all sessions that are still linked. Returns the number of sessions that waited for a person. */
const recover = async (): Promise<number> => {
  const refused = new Set<Account>();
  let away: readonly string[] = [];
  await until(
    async () => {
      const seen = await lookAround();
      away = [];
      const asleep: Account[] = [];
      for (const account of accounts) {
        const { status = '', lastDisconnectReason = '' } = seen.get(account.token) ?? {};
        if (leaving.has(account) ? lastDisconnectReason.startsWith('401: ') : status === 'connected') continue;
        away = [...away, `${account.number} is ${status} (${lastDisconnectReason})`];
        if (leaving.has(account)) continue;
        if (status === 'disconnected' && forAPerson.test(lastDisconnectReason)) refused.add(account);
        if (status === 'hibernated' || (status === 'disconnected' && refused.has(account))) asleep.push(account);
      }
      await Promise.all(asleep.map((account) => account.connect()));
      await wait(50);
      return away.length === 0;
    },
    () => `everybody is connected; but ${away.join(', ')}`,
    patience,
  );
  return refused.size;
};

interface Figures {
  readonly opened: number;
  readonly crashes: number;
  readonly unrecorded: number;
  readonly queued: number;
}

/** Reads the figures of all instances that are still linked. */
const figures = async (): Promise<Figures> => {
  const { status, body } = await gateway.call('GET', '/admin/numbers');
  assert.equal(status, 200, JSON.stringify(body));
  const all = (body['instances'] as readonly (Figures & { readonly status: string })[]).filter((one) => one.status !== 'disconnected');
  const sum = (field: keyof Figures): number => all.reduce((total, one) => total + one[field], 0);
  return { opened: sum('opened'), crashes: sum('crashes'), unrecorded: sum('unrecorded'), queued: sum('queued') };
};

const storm = async (more: Partial<StormOptions> = {}): Promise<void> => {
  const linked = accounts.filter((account) => !leaving.has(account));
  await rage({ platform, receiver, database, flow, accounts: linked, random, ...more });
};

/**
 * Runs a storm with texts, and waits until all sessions have recovered. Then the platform closes all connections, so that all sessions are in the same state.
 */
const weather = async (): Promise<void> => {
  flow.start();
  await storm();
  await calm(platform);
  await flow.stop();
  flow.spared.clear();
  const refused = await recover();
  assert.ok(refused <= mostRefused * 2, `${refused} instances waited for a person`);
  const settled = async (): Promise<boolean> => {
    const { queued, unrecorded } = await figures();
    return queued + unrecorded === 0;
  };
  await until(settled, 'what was accepted is sent, and what came is stored', patience);
  const { logins } = await platform.stats();
  const { hit } = await platform.fault({ kind: 'close' });
  await until(async () => (await platform.stats()).logins.total >= logins.total + hit, 'everybody logs in again', patience);
  await recover();
};

test(`soak: ${instances} instances are paired (seed ${seed})`, async () => {
  let next = 0;
  const pair = async (): Promise<void> => {
    while (next < instances) {
      next += 1;
      const account = await Account.create(gateway, `55119000${String(next).padStart(5, '0')}`);
      accounts.push(await account.pair(platform));
    }
  };
  await Promise.all(Array.from({ length: pairingsAtOnce }, pair));
  for (const account of accounts.slice(0, unlinkings)) leaving.add(account);
});

test('soak: a gateway that is killed in a storm continues, and all sessions are connected afterwards', async () => {
  flow = new Flow({ platform, accounts, contacts, unlinked: leaving, random: randomOf(seed + 1) });
  flow.start();
  const kill = async (): Promise<void> => {
    await gateway.end('SIGKILL');
    await gateway.start();
  };
  await storm({ share: 0.4, leaving: [...leaving], between: kill });
  await flow.stop();
  await weather();
});

/** Returns the counts that grew by more than one object in four reconnects, or 40 KB of heap per reconnect. A socket of the library has 150 KB. */
const excess = (before: Census, now: Census, reconnects: number): readonly string[] => {
  const most = (field: keyof Census): number => (field === 'heap' ? 40_000 * reconnects : reconnects / 4);
  const fields = Object.keys(before) as readonly (keyof Census)[];
  return fields.filter((field) => now[field] - before[field] > most(field)).map((field) => `${field}: ${before[field]} → ${now[field]}`);
};

test('soak: a storm leaves no sockets, timers, listeners or memory behind', async (t) => {
  const census = () => takeCensus(gateway.pid, gateway.printed);
  const { opened } = await figures();
  const before = await census();
  await weather();
  const reconnects = (await figures()).opened - opened;
  assert.ok(reconnects > instances, `${reconnects} reconnects`);
  let now = before;
  let over: readonly string[] = [];
  await until(
    async () => {
      now = await census();
      over = excess(before, now, reconnects);
      return over.length === 0;
    },
    () => `over ${reconnects} reconnects nothing grew; but ${over.join(', ')}`,
    patience,
  );
  t.diagnostic(`over ${reconnects} reconnects ${JSON.stringify(before)} became ${JSON.stringify(now)}`);
});

test('soak: every instance sends and receives, and no text was lost or doubled', async (t) => {
  const linked = accounts.filter((account) => !leaving.has(account));
  await recover(); // A census pauses the gateway. On a busy machine the pause exceeds the time-out of a frame.
  for (const account of linked) await until(async () => (await flow.once(account)) === 200, `${account.number} sends a text`, patience);
  await flow.assertRead();
  const ids = await flow.assertStored();
  await assertTold(receiver, ids);
  const statuses = Map.groupBy(flow.sent, ({ status }) => status);
  t.diagnostic(`${flow.written.length} written, sent ${[...statuses].map(([status, { length }]) => `${status}: ${length}`).join(', ')}`);
  // Status 0 means that the gateway was killed, and 500 that the platform refused.
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![0, 200, 409, 500, 503, 504].includes(status)),
    [],
  );
});

test('soak: no account had two connections, logins stayed within their limit, and a stop leaves nothing open', async () => {
  const open = async (): Promise<number> => (await platform.stats()).connections.open;
  await until(async () => (await open()) === instances - unlinkings, 'every instance has one connection', patience);
  const { logins, messages, unknown } = await platform.stats();
  assert.equal(logins.double, 0);
  // A connection that the gateway aborted at its time-out may still log in at the platform.
  const most = handshakes.perSecond + 2 * handshakes.atOnce;
  assert.ok(logins.perSecondMax <= most, `${logins.perSecondMax} logins in a second`);
  assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
  assert.deepEqual(unknown, {});
  assert.equal((await figures()).crashes, 0);
  assert.doesNotMatch(gateway.printed, /unhandledRejection|notRestored|crashed|surprised/);
  await database.close();
  await server.close(false);
  assert.equal(await gateway.end('SIGTERM'), 0, gateway.printed);
  assert.equal(await open(), 0);
  assert.deepEqual(gateway.databases, []);
});
