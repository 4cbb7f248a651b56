/** The load that an idle cluster puts on its database. The table in actors/cluster/README.md lists the statements. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Nodes } from '#test/support/nodes.ts';

let nodes: Nodes;
before(async () => {
  nodes = await Nodes.open();
});
after(() => nodes?.close());

/** The largest number of statements per second of one idle node. The table has 5.6 without NATS, and a start adds some for a minute. */
const most = 8;

const committed = async (): Promise<number> => {
  const text = 'select xact_commit::float8 as count from pg_stat_database where datname = current_database()';
  const [row] = await nodes.admin.rows<{ count: number }>({ name: '', text }, []);
  return row?.count ?? 0;
};

test('idle: two nodes make few statements a second', async (t) => {
  await nodes.another('second').start();
  // The wait covers the reads after a join, and the delay of the statistics of the server.
  await wait(15_000);
  const [first, began] = [await committed(), performance.now()];
  await wait(30_000);
  const perNode = ((await committed()) - first) / ((performance.now() - began) / 1000) / 2;
  t.diagnostic(`${perNode.toFixed(1)} statements a second and node`);
  assert.ok(perNode > 1 && perNode <= most, `${perNode} statements a second and node`);
});
