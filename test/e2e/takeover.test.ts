/**
 * Tests a takeover from a gateway that loses its database without noticing. After the takeover the first gateway writes no key, record, message or delivery.
 * It ends by itself, and every promise to callers is kept.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { Account } from '#test/support/account.ts';
import { quietLog, testLimits } from '#test/support/database.ts';
import { ExternalServer } from '#test/support/external-server.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { openNetwork, type Network } from '#test/support/network.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { startTraffic, steady } from '#test/support/traffic.ts';
import { until } from '#test/support/until.ts';

/** The name of the first gateway's database connections. It overrides the gateway's own name. A port identifies nothing, because it may be reused. */
const watchedName = 'first';

/** The longest wait for a gateway, long enough for a busy machine. In milliseconds. */
const patience = 120_000;
const common = { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'warn' };

let server: ExternalServer;
let network: Network;
let scene: Scene;
let admin: Database;
before(async () => {
  server = await ExternalServer.open();
  network = await openNetwork(server.url);
  scene = await Scene.open({ ...common, DATABASE_URL: `${network.url}?application_name=${watchedName}` });
  admin = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, application: 'test', limits: testLimits });
  await watchWrites();
});
after(async () => {
  await admin?.close();
  await scene?.close();
  network?.close();
  await server?.close();
});

const run = <T>(text: string): Promise<readonly T[]> => admin.rows<T>({ name: '', text }, []);

const watched = ['instance', 'credential', 'signal_key', 'inbound', 'message', 'chat', 'outbox', 'archive'];

/** Records every written row with the name of the connection that wrote it. */
const watchWrites = async (): Promise<void> => {
  await run('create table written (seq bigserial, writer text, what text, epoch int)');
  await run(`create function note_write() returns trigger language plpgsql as $$ begin
    insert into written (writer, what, epoch)
      values (current_setting('application_name'), tg_table_name, case when tg_op = 'UPDATE' then (to_jsonb(new)->>'epoch')::int - (to_jsonb(old)->>'epoch')::int end);
    return null;
  end $$`);
  for (const table of watched)
    await run(`create trigger note_write after insert or update or delete on ${table} for each row execute function note_write()`);
};

interface Written {
  readonly seq: number;
  readonly writer: string;
  readonly what: string;
  readonly epoch: number | null;
}

/** Returns the rows that the first gateway wrote after the latest raise of an epoch. */
const writtenLate = async (): Promise<readonly string[]> => {
  const rows = await run<Written>('select seq::float8 as seq, writer, what, epoch from written order by written.seq');
  const began = rows.findLastIndex(({ epoch }) => epoch === 1);
  assert.ok(began > 0, 'somebody raised an epoch');
  assert.ok(
    rows.slice(0, began).some(({ writer, what }) => what === 'signal_key' && writer === watchedName),
    'the first one wrote keys before',
  );
  assert.ok(
    rows.slice(began).some(({ writer, what }) => what === 'signal_key' && writer !== watchedName),
    'the second one wrote keys after',
  );
  return rows.slice(began + 1).flatMap(({ writer, what, seq }) => (writer === watchedName ? [`${what} at ${seq}`] : []));
};

/** Ends the connection that holds the gateway's lock, as the server does when a machine is silent for half a minute. */
const giveUpTenant = async (): Promise<void> => {
  const ended = await run(`select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and granted and (classid::bigint << 32 | objid::bigint) = 7110481294`);
  assert.equal(ended.length, 1);
};

/** Ways to hold up the first gateway, and to release it. */
const holdUps: readonly (readonly [title: string, hold: (first: GatewayProcess) => void, release: (first: GatewayProcess) => void])[] = [
  ['whose network is paused', () => network.pause(), () => network.resume()],
  ['whose process is paused', (first) => first.signal('SIGSTOP'), (first) => first.signal('SIGCONT')],
];

for (const [index, [title, hold, release]] of holdUps.entries())
  test(`takeover: a gateway ${title} until another one has taken over writes nothing afterwards`, async () => {
    const first = scene.gateway;
    if (index > 0) await first.start();
    const account = await scene.paired();
    await scene.works(account);
    const flow = startTraffic(scene, account, steady);
    await until(() => flow.answered.size >= 20 && flow.written.length >= 20, 'texts flow', patience);
    hold(first);
    await giveUpTenant();
    const second = scene.another({ ...common, DATABASE_URL: server.url });
    try {
      await second.start();
      const heir = Account.of(second, account.number, account.token);
      await heir.reaches('connected', patience);
      await scene.works(heir);
      release(first);
      assert.equal(await first.endsWithin(patience), 0, first.printed);
      await flow.stop();
      assert.match(first.printed, /storage\.taken/);
      assert.doesNotMatch(first.printed, /unhandledRejection|rashed|surprised/);
      assert.deepEqual(await writtenLate(), []);
      await scene.stored(heir, [...flow.answered.values(), ...flow.written], patience);
      await scene.told(flow.written, patience);
      await until(
        () => [...flow.answered.keys()].every((text) => scene.readBy(contact).has(text)),
        'the contact reads every text',
        patience,
      );
      await scene.works(heir);
      assert.equal(scene.platform.sandbox.stats().messages.undecryptable, 0);
      assert.equal(await second.end('SIGTERM'), 0, second.printed);
    } finally {
      await second.close();
    }
  });
