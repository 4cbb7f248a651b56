/** Runs sessions with texts in both directions while their database has every fault, and checks the invariants afterwards. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { Account } from './account.ts';
import { quietLog, testLimits } from './database.ts';
import { troublesOf, type Trouble } from './database-troubles.ts';
import { assertTold, Flow } from './flow.ts';
import { GatewayProcess } from './gateway.ts';
import { Opened } from './opened.ts';
import { PlatformProcess } from './platform-process.ts';
import { randomOf, shuffled } from './random.ts';
import { openReceiver } from './receivers.ts';
import { SmallDisk } from './small-disk.ts';
import { until } from './until.ts';
import { embeddedUrl } from './embedded-url.ts';

export interface DatabaseStormOptions {
  readonly sessions: number;
  readonly seed: number;
}

/** The time-out of waits. It is long, because the machine may be busy. In milliseconds. */
const patience = 120_000;
const pairingsAtOnce = 8;
/** The size of the disk for the files of the server, its write-ahead log and new rows. In megabytes. */
const diskSize = 512;

/** The time-outs of the database. They are shorter than the faults, so every fault exceeds them. In milliseconds. */
const limits = { DATABASE_STATEMENT_MS: '1000', DATABASE_CONNECTION_MS: '500' };
const lasting = 2_500;

const clock = {
  ...limits,
  // The outcome of a text that a busy machine acknowledges late would be unknown.
  SEND_TIMEOUT_MS: '40000',
  HANDSHAKES_AT_ONCE: '10',
  HANDSHAKES_PER_SECOND: '50',
  RECONNECT_MIN_MS: '100',
  RECONNECT_MAX_MS: '1000',
  WEBHOOK_QUICK_RETRIES_MS: '0,50,100',
  WEBHOOK_SLOW_RETRIES_MS: '200,400,800,1600,3200,6400',
  LOG_LEVEL: 'warn',
};

export interface DatabaseStorm {
  /** All faults in random order. */
  readonly troubles: readonly Trouble[];
  readonly flow: Flow;
  readonly gateway: GatewayProcess;
  /** Causes the fault while texts flow, and waits until the gateway is ready and texts arrive again. */
  weather(trouble: Trouble): Promise<void>;
  /** Returns the number of errors about a full disk in the log of the server, or null if no disk can be filled. */
  readonly diskErrors: () => number | null;
  /** Asserts that no text was lost, doubled or unreadable, and that no session was closed because of the database. */
  assertNothingLost(): Promise<void>;
  close(): Promise<void>;
}

const pairAll = async (gateway: GatewayProcess, platform: PlatformProcess, sessions: number): Promise<readonly Account[]> => {
  const accounts: Account[] = [];
  let next = 0;
  const pair = async (): Promise<void> => {
    while (next < sessions) {
      next += 1;
      const number = `55119000${String(next).padStart(5, '0')}`;
      // On a busy machine a statement may exceed its time-out before the storm begins.
      const account = await until(() => Account.create(gateway, number).catch(() => undefined), 'an instance is made');
      accounts.push(await account.pair(platform));
    }
  };
  await Promise.all(Array.from({ length: pairingsAtOnce }, pair));
  return accounts;
};

const open = async ({ sessions, seed }: DatabaseStormOptions, opened: Opened): Promise<DatabaseStorm> => {
  const random = randomOf(seed);
  const disk = opened.add(SmallDisk.open(diskSize), (one) => one?.close());
  const platform = opened.add(await PlatformProcess.start(), (one) => one.close());
  const receiver = opened.add(await openReceiver(), (one) => one.close());
  const gateway = opened.add(new GatewayProcess({ platformUrl: platform.url, env: clock }, disk?.folder), (one) => one.close());
  await gateway.start();
  await gateway.call('POST', '/globalwebhook', { body: { url: receiver.url, events: ['messages'] } });
  const url = embeddedUrl(gateway.dataDir);
  const database = await openDatabase({ url, log: quietLog, poolSize: 1, application: 'storm', limits: testLimits });
  opened.add(database, (one) => one.close());
  const accounts = await pairAll(gateway, platform, sessions);
  const contacts = Array.from({ length: 10 }, (_, n) => `55119888800${n + 10}`);
  const flow = new Flow({ platform, accounts, contacts, unlinked: new Set(), random });
  const { logins } = await platform.stats();
  return {
    troubles: shuffled(troublesOf({ dataDir: gateway.dataDir, database, disk, lasting }), random),
    flow,
    gateway,
    async weather(trouble) {
      await trouble.happen();
      await until(
        async () => (await gateway.call('GET', '/health/ready')).status === 200,
        `the gateway is ready after: ${trouble.name}`,
        patience,
      );
      await flow.proceeds();
    },
    diskErrors() {
      if (disk === null) return null;
      const log = readFileSync(join(gateway.dataDir, 'postgres', 'server.log'), 'utf8');
      return log.split('No space left on device').length - 1;
    },
    async assertNothingLost() {
      await until(() => settled(gateway), 'what was accepted is sent, and what came is stored', patience);
      await flow.assertRead();
      await assertTold(receiver, await flow.assertStored());
      await flow.assertHonest();
      const { messages, logins: now, unknown } = await platform.stats();
      assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
      assert.deepEqual([now.total - logins.total, now.double], [0, 0], 'no session was closed for it');
      assert.deepEqual(unknown, {});
      assert.doesNotMatch(gateway.printed, /unhandledRejection|notRestored|rashed|surprised|entries\.lost|\.refused|keys-lost/);
    },
    close: () => opened.close(),
  };
};

/** Returns true if no write waits in the memory of the gateway. */
const settled = async (gateway: GatewayProcess): Promise<boolean> => {
  const { status, body } = await gateway.call('GET', '/admin/numbers');
  if (status === 503) return false;
  return (body['instances'] as readonly { readonly unrecorded: number; readonly queued: number }[]).every(
    ({ unrecorded, queued }) => unrecorded + queued === 0,
  );
};

export const openDatabaseStorm = async (options: DatabaseStormOptions): Promise<DatabaseStorm> => {
  const opened = new Opened();
  try {
    return await open(options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
};
