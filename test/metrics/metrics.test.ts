/** Tests the metrics: counts, their format, and that the files in `deploy/` name only existing metrics. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Figures } from '#actors/gateway.ts';
import { findProgram } from '#config/programs.ts';
import { listenForMetrics, Metrics } from '#src/metrics/metrics.ts';
import { ProcessMeter } from '#src/metrics/meter.ts';
import { allSeries } from '#src/metrics/series.ts';
import { root } from '#test/source-tree.ts';

const figures: Figures = {
  states: new Map([
    ['connected', 3],
    ['connecting.waiting', 2],
  ]),
  frameAges: [1_000, 20_000, 400_000],
  queued: 4,
  unrecorded: 5,
  operations: 6,
  handshakesWaiting: 7,
  barrier: 'outage',
  clientVersion: { version: '2.3000.1', source: 'lookedUp', checkedAt: 1_000, error: '' },
  restoring: 8,
  loopLagMs: 12,
  disk: { free: 3, size: 40 },
  clock: { aheadMs: 1500, inDoubt: true },
  outbox: { waiting: 9, parked: 1, oldestAgeMs: 90_000 },
  circuitsOpen: 2,
  node: {
    name: 'a',
    owned: 3,
    capacity: 200,
    astray: 2,
    busConnected: false,
    draining: true,
    leaseLeftMs: 9_500,
    nodes: { live: 2, draining: 1 },
  },
};

const made = (meter = new ProcessMeter(), gather = async () => figures) =>
  new Metrics({ meter, figures: gather, pools: () => [{ name: 'keys', most: 5, open: 3, free: 1, waiting: 2 }] });

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('metrics: they name the version of the web client, its source and the time of its lookup', async () => {
  const text = await made().text();
  for (const line of ['dormouse_client_version{version="2.3000.1",source="lookedUp"} 1', 'dormouse_client_version_checked_seconds 1'])
    assert.ok(text.split('\n').includes(line), line);
});

test('metrics: gauges and counters have their type and help', async () => {
  const meter = new ProcessMeter();
  meter.attempted();
  meter.closed('connectionLost');
  meter.closed('connectionLost');
  meter.event('messages');
  meter.posted('delivered', 120, 700);
  meter.posted('failed', 30_000, null);
  meter.crashed('courier');
  meter.modelAsked('answered', 2_000, 150);
  meter.modelAsked('failed', 100, 0);
  meter.campaigned('sent');
  meter.leases('taken', 'failover', 1);
  meter.leases('ended', 'drained', 2);
  meter.leases('astray', 'unheld', 1);
  meter.reconnected(1_500);
  meter.stream('opened');
  meter.answered('GET', '/status', 200, 3);
  const text = await made(meter).text();
  const lines = linesOf(text);
  for (const line of [
    'dormouse_sessions{state="connecting.waiting",status="connecting"} 2',
    'dormouse_gate_barrier{reason="outage"} 1',
    'dormouse_closes_total{cause="connectionLost"} 2',
    'dormouse_events_total{type="messages"} 1',
    'dormouse_delivery_attempts_total{outcome="failed"} 1',
    'dormouse_delivery_latency_seconds_bucket{le="0.25"} 0',
    'dormouse_delivery_latency_seconds_bucket{le="1"} 1',
    'dormouse_delivery_latency_seconds_count 1',
    'dormouse_last_frame_age_seconds_bucket{le="30"} 2',
    'dormouse_last_frame_age_seconds_bucket{le="+Inf"} 3',
    'dormouse_reconnect_seconds_sum 1.5',
    'dormouse_outbox_oldest_age_seconds 90',
    'dormouse_crashes_total{part="courier"} 1',
    'dormouse_model_calls_total{outcome="failed"} 1',
    'dormouse_model_call_seconds_bucket{le="2.5"} 2',
    'dormouse_model_tokens_total 150',
    'dormouse_campaign_recipients_total{outcome="sent"} 1',
    'dormouse_streams_open 1',
    'dormouse_http_requests_total{method="GET",route="/status",status="2xx"} 1',
    'dormouse_http_request_seconds_bucket{le="0.005",route="/status"} 1',
    'dormouse_loop_lag_seconds 0.012',
    'dormouse_database_connections{pool="keys",state="busy"} 2',
    'dormouse_database_waiting{pool="keys"} 2',
    'dormouse_node_sessions 3',
    'dormouse_node_draining 1',
    'dormouse_node_lease_left_seconds 9.5',
    'dormouse_cluster_nodes{state="draining"} 1',
    'dormouse_leases_taken_total{cause="failover"} 1',
    'dormouse_leases_ended_total{cause="drained"} 2',
    'dormouse_leases_astray_total{kind="unheld"} 1',
    'dormouse_node_bus_connected 0',
  ])
    assert.ok(lines.includes(line), line);
  for (const { name, type } of allSeries) {
    assert.equal(text.split(`# TYPE ${name} ${type}\n`).length, 2, name);
    assert.ok(text.includes(`# HELP ${name} `), name);
  }
  for (const line of lines) assert.match(line, /^[a-z_]+(?:\{(?:\w+="[^"]*",?)*\})? (?:[\d.e+-]+|NaN)$/);
});

test('metrics: dropped and refused entries, and forgeries, are counted', async () => {
  const meter = new ProcessMeter();
  meter.unstored('lost', 3);
  meter.unstored('refused', 1);
  meter.forged('unsealed');
  const lines = linesOf(await made(meter).text());
  const expected = ['dormouse_entries_lost_total 3', 'dormouse_entries_refused_total 1', 'dormouse_forgeries_total{what="unsealed"} 1'];
  for (const line of expected) assert.ok(lines.includes(line), line);
});

test('metrics: a single gateway has no series of nodes', async () => {
  const text = await made(new ProcessMeter(), async () => ({ ...figures, node: null })).text();
  assert.doesNotMatch(text, /node|lease/);
});

test('metrics: the number of names from outside is limited', () => {
  const meter = new ProcessMeter();
  for (let n = 0; n < 2_000; n += 1) meter.answered('GET', `/route/${n}`, 200, 1);
  assert.ok(meter.answers.entries.length <= 501);
  assert.ok(meter.routes.size <= 500);
  assert.equal(meter.answers.entries.find(([name]) => name === 'other')?.[1], 1_500);
});

test('metrics: a long output is written in slices with other work in between, and simultaneous scrapes share one', async () => {
  const meter = new ProcessMeter();
  for (let n = 0; n < 500; n += 1) meter.answered('GET', `/route/${n}`, 200, n);
  let gathered = 0;
  const metrics = made(meter, async () => {
    gathered += 1;
    return figures;
  });
  let turns = 0;
  const scrapes = Promise.all([metrics.text(), metrics.text()]);
  const over = scrapes.then(() => true);
  while (!(await Promise.race([over, turn(false)]))) turns += 1;
  const [first, second] = await scrapes;
  assert.equal(first, second);
  assert.equal(gathered, 1);
  assert.ok(turns >= allSeries.length / 2, `${turns} turns`);
  const buckets = linesOf(first).filter((line) => line.startsWith('dormouse_http_request_seconds'));
  assert.equal(new Set(buckets).size, 500 * 10);
  assert.equal(first.split('# TYPE dormouse_http_request_seconds ').length, 2);
  await metrics.text();
  assert.equal(gathered, 2);
});

test('metrics: a separate address answers without a token, and serves nothing else', async () => {
  const listener = await listenForMetrics(made(), '127.0.0.1', 0);
  try {
    const base = `http://127.0.0.1:${listener.port}`;
    const answer = await fetch(`${base}/metrics`);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8']);
    assert.ok((await answer.text()).includes('dormouse_sessions'));
    assert.equal((await fetch(`${base}/admin/actors`)).status, 404);
    assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 404);
  } finally {
    await listener.close();
  }
});

const deployed = ['deploy/alerts.yml', 'deploy/grafana-dashboard.json'].map(
  (path) => [path, readFileSync(join(root, path), 'utf8')] as const,
);

for (const [path, text] of deployed)
  test(`${path}: every metric that it names exists`, () => {
    const known = new Set(
      allSeries.flatMap(({ name, type }) => (type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])),
    );
    const named = [...new Set([...text.matchAll(/\bdormouse_\w+/g)].map(([name]) => name))];
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });

test('docs/runbook.md: it has advice on every alert', () => {
  const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8');
  const alerts = [...(deployed[0]?.[1] ?? '').matchAll(/alert: (\w+)/g)].map(([, name]) => name ?? '');
  assert.ok(alerts.length > 10);
  assert.deepEqual(
    alerts.filter((name) => !runbook.includes(`\`${name}\``)),
    [],
  );
});

test('deploy/grafana-dashboard.json: panels do not overlap, and every series of the gateway is shown or alerted on', () => {
  interface Panel {
    readonly id: number;
    readonly type: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string }[];
  }
  const { panels, uid } = JSON.parse(deployed[1]?.[1] ?? '') as { readonly panels: readonly Panel[]; readonly uid: string };
  assert.equal(uid, 'dormouse');
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  assert.ok(panels.every(({ type, targets = [] }) => type === 'row' || targets.every(({ expr }) => expr !== '')));
  const all = deployed.map(([, text]) => text).join('');
  assert.deepEqual(
    allSeries.filter(({ name }) => !all.includes(name)).map(({ name }) => name),
    [],
  );
});

const promtool = findProgram('promtool');
const skipped = promtool === null ? { skip: 'this machine has no promtool; Debian has it in the package prometheus' } : {};

test('deploy/alerts.yml: promtool accepts the rules and the metrics', skipped, async () => {
  const run = promisify(execFile);
  await run(promtool ?? '', ['check', 'rules', join(root, 'deploy/alerts.yml')]);
  const check = run(promtool ?? '', ['check', 'metrics']);
  check.child.stdin?.end(await made().text());
  await check;
});
