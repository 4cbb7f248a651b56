/** Tests nodes that start at the same time. One of them creates the tables, and the others wait. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { upgrade } from '#src/storage/migrations/from-first-release.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import type { ListedMigration } from '#src/storage/migrations/step.ts';
import { migrate } from '#src/storage/open.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { quietLog, testLimits } from '#test/support/database.ts';
import { ExternalServer } from '#test/support/external-server.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { releasedSteps } from '#test/support/upgrade.ts';

let server: ExternalServer;
before(async () => {
  server = await ExternalServer.open();
});
after(() => server?.close());

const emptied = async (): Promise<void> => {
  const admin = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits: testLimits });
  for (const text of ['drop schema public cascade', 'create schema public']) await admin.rows({ name: '', text }, []);
  await admin.close();
};

const node = (name: string): GatewayProcess =>
  new GatewayProcess({
    platformUrl: 'ws://127.0.0.1:9',
    env: { DATABASE_URL: server.url, ENCRYPTION_KEY: 'ab'.repeat(32), NODE_NAME: name, LOG_LEVEL: 'debug', DRAIN_MS: '0' },
  });

interface Line {
  readonly msg?: string;
  readonly migrations?: readonly string[];
}

/** Returns the migrations in the log of a node. */
const migratedBy = ({ printed }: GatewayProcess): readonly string[] =>
  printed
    .split('\n')
    .filter((line) => line.includes('storage.migrated'))
    .flatMap((line) => (JSON.parse(line) as Line).migrations ?? []);

const starts: readonly (readonly [title: string, applied: readonly ListedMigration[], missing: readonly ListedMigration[]])[] = [
  ['an empty database', [], migrations.filter((one) => !upgrade.includes(one))],
  ['the tables of the last release', releasedSteps, migrations.slice(1)],
];
for (const [title, applied, missing] of starts)
  test(`nodes: of two that start at once on ${title} one migrates, and all run`, async () => {
    await emptied();
    if (applied.length > 0) await migrate(server.url, quietLog, { steps: applied });
    const nodes = ['a', 'b'].map(node);
    try {
      await Promise.all(nodes.map((one) => one.start()));
      assert.deepEqual(
        nodes.flatMap(migratedBy),
        missing.map(({ name }) => name),
        'each migration ran once, on one node',
      );
      for (const one of nodes) {
        assert.equal((await one.call('GET', '/health/ready')).status, 200, one.printed);
        assert.match(one.printed, /node\.filesNotShared/);
        assert.doesNotMatch(one.printed, /unhandledRejection|rashed|urprised/);
      }
      const made = await nodes[0]!.call('POST', '/instance/create', { body: { name: 'shop' } });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      const seen = await nodes[1]!.call('GET', '/instance/status', { token: String(made.body['token']) });
      assert.equal(seen.status, 200, JSON.stringify(seen.body));
    } finally {
      await Promise.all(nodes.map((one) => one.close()));
    }
  });
