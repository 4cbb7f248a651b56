/** Tests the settings that make a gateway a node of a cluster, and the name of the node. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { clusterPolicyOf } from '#actors/gateway.ts';
import { loadSettings } from '#config/load.ts';
import { checkNode, nodeNameOf } from '#src/wiring/cluster.ts';
import { policyOf } from '#src/settings.ts';
import { quietLog } from '#test/support/database.ts';

const settingsOf = (env: Readonly<Record<string, string>>) => loadSettings({ env, file: '' });

test('node: NODE_NAME is its name, NATS_URL alone gives it the name of the machine, and without both the gateway is no node', () => {
  assert.equal(nodeNameOf(settingsOf({ NODE_NAME: 'a', NATS_URL: 'nats://n:4222' })), 'a');
  assert.equal(
    nodeNameOf(settingsOf({ NATS_URL: 'nats://n:4222' })),
    hostname()
      .replace(/[^\w-]/g, '-')
      .slice(0, 63),
  );
  assert.equal(nodeNameOf(settingsOf({})), null);
});

test('node: a node needs the database and the key that all nodes share', () => {
  const key = 'ab'.repeat(32);
  const shared = { DATABASE_URL: 'postgres://d/d', ENCRYPTION_KEY: key };
  for (const env of [{ ENCRYPTION_KEY: key }, { DATABASE_URL: shared.DATABASE_URL }])
    assert.throws(() => checkNode(settingsOf({ NODE_NAME: 'a', ...env }), quietLog), /need DATABASE_URL and ENCRYPTION_KEY/);
  checkNode(settingsOf({ NODE_NAME: 'a', ...shared }), quietLog);
  checkNode(settingsOf({}), quietLog);
});

test('node: a node opens sessions as fast as the cluster may, a single gateway opens them slowly, and a setting overrides both', () => {
  const gateOf = (env: Readonly<Record<string, string>>) => {
    const { atOnce, perSecond } = policyOf(settingsOf(env)).handshakes;
    return [atOnce, perSecond];
  };
  assert.deepEqual(gateOf({}), [5, 5]);
  assert.deepEqual(gateOf({ NODE_NAME: 'a' }), [20, 20]);
  assert.deepEqual(gateOf({ NODE_NAME: 'a', CLUSTER_HANDSHAKES_PER_SECOND: '50' }), [50, 50]);
  assert.deepEqual(gateOf({ NODE_NAME: 'a', HANDSHAKES_AT_ONCE: '2', HANDSHAKES_PER_SECOND: '3' }), [2, 3]);
});

test('node: a drain moves sessions no faster than other nodes may open them, and after a pause only a small burst may open', () => {
  const pacesOf = (perSecond: number) => {
    const { movesPerSecond, drainsPerSecond, admission } = clusterPolicyOf(perSecond);
    return [movesPerSecond, drainsPerSecond, admission.burst];
  };
  assert.deepEqual(pacesOf(20), [5, 16, 5]);
  assert.deepEqual(pacesOf(1_000), [5, 20, 250]);
  assert.deepEqual(pacesOf(5), [4, 4, 2]);
  assert.deepEqual(pacesOf(1), [1, 1, 1]);
  assert.deepEqual([clusterPolicyOf(50).nodeHandshakes, clusterPolicyOf(50, 5).nodeHandshakes], [50, 5]);
});

test('node: a node without a bucket logs one warning of what will not work; a node with a bucket and a single gateway log none', () => {
  const shared = { DATABASE_URL: 'postgres://d/d', ENCRYPTION_KEY: 'ab'.repeat(32) };
  const saidOf = (env: Readonly<Record<string, string>>): readonly unknown[] => {
    const said: unknown[] = [];
    checkNode(settingsOf({ ...shared, ...env }), { ...quietLog, warn: (...line) => void said.push(line) });
    return said;
  };
  const effect =
    'a file is kept by the node that stored it: others get it while that node has the session; files of queued messages and of campaigns fail once their session has moved';
  assert.deepEqual(saidOf({ NODE_NAME: 'a' }), [[{ missing: 'FILES_BUCKET', effect }, 'node.filesNotShared']]);
  const bucket = { FILES_BUCKET: 'https://files.example.com/bucket', FILES_BUCKET_KEY_ID: 'k', FILES_BUCKET_SECRET: 's' };
  assert.deepEqual(saidOf({ NODE_NAME: 'a', ...bucket }), []);
  assert.deepEqual(saidOf({}), []);
});
