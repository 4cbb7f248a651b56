/** All series of `/metrics`: the name, the description, and the values from counters and current figures. */
import type { Figures, NodeFigures } from '#actors/gateway.ts';
import { Histogram, secondsBounds, type Counts, type ProcessMeter } from './meter.ts';

export interface Value {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface PoolFigures {
  readonly name: string;
  /** The largest number of connections (`most`), and the current numbers of open and of idle connections. */
  readonly most: number;
  readonly open: number;
  readonly free: number;
  /** The number of tasks that wait for a connection. */
  readonly waiting: number;
}

/** The sources of the series of one scrape. */
export interface Sources {
  readonly meter: ProcessMeter;
  readonly figures: Figures;
  readonly pools: readonly PoolFigures[];
}

export interface Series {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  /** True for a series that exists only in a cluster. */
  readonly ofNodes?: true;
  values(sources: Sources): readonly Value[];
}

const plain = (value: number): readonly Value[] => [{ labels: {}, value }];
const byLabel = (label: string, counts: Counts): readonly Value[] =>
  counts.entries.map(([name, value]) => ({ labels: { [label]: name }, value }));

const gauge = (name: string, help: string, values: Series['values']): Series => ({ name: `dormouse_${name}`, type: 'gauge', help, values });
const counter = (name: string, help: string, values: Series['values']): Series => ({
  name: `dormouse_${name}`,
  type: 'counter',
  help,
  values,
});

const parts = (name: string, histogram: Histogram, labels: Value['labels'] = {}): readonly Value[] => {
  const { bounds, upTo, sum, count } = histogram;
  const bucket = (le: number | string, value: number): Value => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value });
  return [
    ...bounds.map((bound, index) => bucket(bound, upTo[index] ?? 0)),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
};

const histogram = (short: string, help: string, of: (sources: Sources) => Histogram): Series => {
  const name = `dormouse_${short}`;
  return { name, type: 'histogram', help, values: (sources) => parts(name, of(sources)) };
};

const framesOf = ({ figures }: Sources): Histogram => {
  const ages = new Histogram(secondsBounds.frame);
  for (const ms of figures.frameAges) ages.add(ms);
  return ages;
};

const sessions: readonly Series[] = [
  gauge('sessions', 'Instances by the state of their chart', ({ figures }) =>
    [...figures.states].map(([state, value]) => ({ labels: { state, status: state.split('.')[0] ?? '' }, value })),
  ),
  gauge('sessions_restoring', 'Sessions that the start has not brought back yet', ({ figures }) => plain(figures.restoring)),
  gauge('handshakes_waiting', 'Sessions that wait for their turn to connect', ({ figures }) => plain(figures.handshakesWaiting)),
  gauge('gate_barrier', '1 while only one canary instance may connect, by reason', ({ figures }) => [
    { labels: { reason: figures.barrier === '' ? 'none' : figures.barrier }, value: figures.barrier === '' ? 0 : 1 },
  ]),
  gauge(
    'client_version',
    'The version of the web client that new connections name, and where it comes from',
    ({ figures: { clientVersion } }) => [{ labels: { version: clientVersion.version, source: clientVersion.source }, value: 1 }],
  ),
  gauge('client_version_checked_seconds', 'When the version was last looked up, in Unix seconds; 0: never', ({ figures }) =>
    plain(figures.clientVersion.checkedAt / 1000),
  ),
  counter('connects_total', 'Attempts to connect to the platform', ({ meter }) => plain(meter.attempts)),
  counter('closes_total', 'Connections that were closed, by cause', ({ meter }) => byLabel('cause', meter.closes)),
  histogram('reconnect_seconds', 'Time from the loss of a live session to its return', ({ meter }) => meter.reconnects),
  histogram('last_frame_age_seconds', 'Live sessions by the present age of the last frame from the platform', framesOf),
  gauge('operations', 'Requests to the platform that are under way', ({ figures }) => plain(figures.operations)),
  gauge('queued_messages', 'Messages in the asynchronous queues', ({ figures }) => plain(figures.queued)),
  gauge('unrecorded_entries', 'Entries that wait for the database', ({ figures }) => plain(figures.unrecorded)),
  counter('entries_lost_total', 'Entries that were given up before the database took them', ({ meter }) => plain(meter.entries.lost)),
  counter('entries_refused_total', 'Entries whose data the database refuses', ({ meter }) => plain(meter.entries.refused)),
  counter('forgeries_total', 'Received items that were dropped because their sender may not send them, by kind', ({ meter }) =>
    byLabel('what', meter.forgeries),
  ),
  counter('crashes_total', 'Crashes of sessions and of background workers, by part', ({ meter }) => byLabel('part', meter.crashes)),
];

const deliveries: readonly Series[] = [
  counter('events_total', 'Events that were committed, by type', ({ meter }) => byLabel('type', meter.events)),
  gauge('outbox_rows', 'Deliveries that wait, by state, as last counted', ({ figures: { outbox } }) => [
    { labels: { state: 'waiting' }, value: outbox.waiting },
    { labels: { state: 'parked' }, value: outbox.parked },
  ]),
  gauge('outbox_oldest_age_seconds', 'Age of the oldest event in the outbox at the last check', ({ figures }) =>
    plain(figures.outbox.oldestAgeMs / 1000),
  ),
  gauge('circuits_open', 'Webhooks whose circuit breaker is open because their receiver fails', ({ figures }) =>
    plain(figures.circuitsOpen),
  ),
  counter('delivery_attempts_total', 'Posts to receivers, by outcome', ({ meter }) => byLabel('outcome', meter.posts)),
  histogram('delivery_attempt_seconds', 'Duration of a post to a receiver', ({ meter }) => meter.postTimes),
  histogram('delivery_latency_seconds', 'Time from an event to the 2xx of its receiver', ({ meter }) => meter.deliveries),
  gauge('streams_open', 'Readers of event streams', ({ meter }) => plain(meter.streams.open)),
  counter('stream_cuts_total', 'Readers of event streams that were cut because they did not keep up', ({ meter }) =>
    plain(meter.streams.cut),
  ),
];

const chatbot: readonly Series[] = [
  counter('model_calls_total', 'Questions of the chatbot to models, by outcome', ({ meter }) => byLabel('outcome', meter.models)),
  histogram('model_call_seconds', 'Duration of a question to a model', ({ meter }) => meter.modelTimes),
  counter('campaign_recipients_total', 'Recipients of campaigns whose turn came, by outcome', ({ meter }) =>
    byLabel('outcome', meter.recipients),
  ),
  counter('model_tokens_total', 'Tokens of the questions to models and of their answers', ({ meter }) => plain(meter.modelTokens)),
];

const answered = (key: string): Value['labels'] => {
  const [method = '', ...rest] = key.split(' ');
  return { method, route: rest.slice(0, -1).join(' '), status: rest.at(-1) ?? '' };
};

const requests = 'dormouse_http_request_seconds';

const server: readonly Series[] = [
  counter('http_requests_total', 'Requests by route and class of status', ({ meter }) =>
    meter.answers.entries.map(([key, value]) => ({ labels: answered(key), value })),
  ),
  {
    name: requests,
    type: 'histogram',
    help: 'Duration of requests, by route',
    values: ({ meter }) => [...meter.routes].flatMap(([route, times]) => parts(requests, times, { route })),
  },
  gauge('loop_lag_seconds', '99th percentile of the delay of the event loop over the last minute', ({ figures }) =>
    plain(figures.loopLagMs / 1000),
  ),
  gauge('disk_free_bytes', 'Free bytes of the disk of the data folder', ({ figures }) => plain(figures.disk.free)),
  gauge('disk_size_bytes', 'All bytes of the disk of the data folder', ({ figures }) => plain(figures.disk.size)),
  gauge('clock_in_doubt', '1 after a jump of the clock, while no data is removed for its age', ({ figures }) =>
    plain(Number(figures.clock.inDoubt)),
  ),
  gauge('memory_bytes', 'Memory of the process', () => {
    const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
    return Object.entries({ rss, heapUsed, heapTotal, external, arrayBuffers }).map(([kind, value]) => ({ labels: { kind }, value }));
  }),
  counter('cpu_seconds_total', 'Processor time of the process', () => {
    const { user, system } = process.cpuUsage();
    return [
      { labels: { mode: 'user' }, value: user / 1e6 },
      { labels: { mode: 'system' }, value: system / 1e6 },
    ];
  }),
  gauge('uptime_seconds', 'Time since the start of the process', () => plain(process.uptime())),
  gauge('database_connections', 'Connections to the database, by pool and state', ({ pools }) =>
    pools.flatMap(({ name, most, open, free }) =>
      Object.entries({ most, busy: open - free, free }).map(([state, value]) => ({ labels: { pool: name, state }, value })),
    ),
  ),
  gauge('database_waiting', 'Pieces of work that wait for a connection to the database, by pool', ({ pools }) =>
    pools.map(({ name, waiting }) => ({ labels: { pool: name }, value: waiting })),
  ),
];

const ofNode =
  (value: (node: NodeFigures) => number): Series['values'] =>
  ({ figures: { node } }) =>
    node === null ? [] : plain(value(node));

const nodes: readonly Series[] = [
  gauge(
    'node_sessions',
    'Instances that this node owns',
    ofNode(({ owned }) => owned),
  ),
  gauge(
    'node_capacity',
    'Instances that this node may own',
    ofNode(({ capacity }) => capacity),
  ),
  gauge(
    'node_draining',
    '1 while this node gives its sessions away',
    ofNode(({ draining }) => Number(draining)),
  ),
  gauge(
    'node_lease_left_seconds',
    'Remaining time of the lease of this node',
    ofNode(({ leaseLeftMs }) => leaseLeftMs / 1000),
  ),
  gauge('node_bus_connected', '1 while this node reaches NATS', ({ figures: { node } }) =>
    node === null || node.busConnected === null ? [] : plain(Number(node.busConnected)),
  ),
  gauge('cluster_nodes', 'Live nodes at the last look of this node, by state', ({ figures: { node } }) =>
    Object.entries(node?.nodes ?? {}).map(([state, value]) => ({ labels: { state }, value })),
  ),
  counter('leases_taken_total', 'Instances that this node took, by cause', ({ meter }) => byLabel('cause', meter.leasesTaken)),
  counter('leases_ended_total', 'Instances that this node gave up, by cause', ({ meter }) => byLabel('cause', meter.leasesEnded)),
  counter('leases_astray_total', 'Differences found between leases in the database and on this node, by kind', ({ meter }) =>
    byLabel('kind', meter.leasesAstray),
  ),
  gauge(
    'node_leases_astray',
    'Differences that the last comparison of leases with the database found',
    ofNode(({ astray }) => astray),
  ),
].map((series) => ({ ...series, ofNodes: true }));

export const allSeries: readonly Series[] = [...sessions, ...deliveries, ...chatbot, ...server, ...nodes];
