/** The inspector of a gateway in memory: real charts, and one live instance with two steps. */
import {
  type ActorDetail,
  type ActorEvent,
  type ActorPage,
  type ActorQuery,
  type Asker,
  done,
  type Gateway,
  type InstanceId,
  unknownInstance,
  type Result,
} from '#actors/gateway.ts';
import { charts, chartSource } from '#actors/session/charts.ts';
import { instance as sample, now } from '#test/contract/samples.ts';

const { steps, parts, root, wanted, attempts, failures, retryAt, lastFrameAge, crashes, logLevel, ...row } = {
  id: sample.record.id,
  name: sample.record.name,
  number: '…7777',
  picture: '',
  status: 'connected',
  state: 'connected',
  needsPerson: false,
  linked: true,
  since: now,
  reason: '',
  cause: '',
  lastEvent: now,
  queue: 0,
  outbox: 0,
  hour: '.'.repeat(23).concat('c'),
  root: 'running',
  wanted: 'online',
  attempts: 1,
  failures: 0,
  retryAt: null,
  lastFrameAge: 12,
  crashes: 0,
  logLevel: null,
  parts: [
    {
      id: 'courier.w1',
      state: 'ok',
      note: 'nothing waits',
      waiting: 0,
      crashes: 0,
      courier: {
        webhookId: 'w1',
        host: 'example.com',
        lanes: { used: 0, of: 8 },
        circuit: { open: false, failures: 0, until: 0 },
        health: null,
      },
    },
  ],
  steps: [
    {
      n: 1,
      at: now,
      chart: 'lifecycle',
      from: 'beginning',
      to: 'connecting.admission',
      event: 'start',
      edge: 'beginning>connecting',
      cause: { kind: 'start' },
    },
    {
      n: 2,
      at: now,
      chart: 'lifecycle',
      from: 'connected',
      to: 'connecting.waiting',
      event: 'platform.closed',
      edge: 'connected>connecting.waiting',
      cause: {
        kind: 'close',
        code: 503,
        cause: 'connectionLost',
        reaction: 'backOff',
        sentence: '503: the platform is unavailable',
        retryInMs: 4000,
      },
    },
  ],
} satisfies ActorDetail;

export const sampleActor: ActorDetail = {
  ...row,
  steps,
  parts,
  root,
  wanted,
  attempts,
  failures,
  retryAt,
  lastFrameAge,
  crashes,
  logLevel,
};

const page: ActorPage = {
  total: 1,
  counts: { connected: 1, connecting: 0, hibernated: 0, disconnected: 0, needsPerson: 0 },
  rows: [row],
  next: '',
};

const sampleFigures: Awaited<ReturnType<Gateway['figures']>> = {
  states: new Map([['connected', 1]]),
  frameAges: [1_000],
  queued: 0,
  unrecorded: 0,
  operations: 0,
  handshakesWaiting: 0,
  barrier: '',
  clientVersion: { version: '2.3000.1', source: 'builtIn', checkedAt: 0, error: '' },
  restoring: 0,
  loopLagMs: 1,
  disk: { free: 3, size: 40 },
  clock: { aheadMs: 1500, inDoubt: true },
  outbox: { waiting: 0, parked: 0, oldestAgeMs: 0 },
  circuitsOpen: 0,
  node: null,
};

type InspectorCalls = Pick<
  Gateway,
  'figures' | 'charts' | 'chartSource' | 'actors' | 'actor' | 'actorPicture' | 'watchSteps' | 'watchActors' | 'act'
>;

type StepWatcher = Parameters<Gateway['watchSteps']>[1];
type ListWatcher = Parameters<Gateway['watchActors']>[0];

/** Controls of the fake inspector for tests. */
export interface InspectorLevers {
  readonly queries: ActorQuery[];
  readonly acts: { readonly id: InstanceId; readonly event: ActorEvent; readonly by: Asker }[];
  readonly stepWatchers: Set<StepWatcher>;
  readonly listWatchers: Set<ListWatcher>;
}

const join = <W>(all: Set<W>, watcher: W): (() => void) => {
  all.add(watcher);
  return () => void all.delete(watcher);
};

/** Returns the commands of the inspector. `attempt` runs a command, unless a test makes the next call of the fake gateway fail. */
export const inspectorCalls = (
  attempt: <T>(run: () => Result<T>) => Promise<Result<T>>,
): InspectorCalls & { readonly inspector: InspectorLevers } => {
  const inspector: InspectorLevers = { queries: [], acts: [], stepWatchers: new Set(), listWatchers: new Set() };
  const known = <T>(id: InstanceId, value: T): Result<T> => (id === sampleActor.id ? done(value) : unknownInstance);
  return {
    inspector,
    figures: async () => sampleFigures,
    charts: () => [charts.lifecycle, charts.instance],
    chartSource,
    async actors(query) {
      inspector.queries.push(query);
      return done(page);
    },
    actor: async (id) => known(id, sampleActor),
    actorPicture: async (id) => (id === sampleActor.id ? { jpeg: Buffer.of(0xff, 0xd8, 0xff), tag: 'abc' } : null),
    watchSteps: (id, watcher) => (id === sampleActor.id ? done(join(inspector.stepWatchers, watcher)) : known(id, () => undefined)),
    watchActors: (watcher) => join(inspector.listWatchers, watcher),
    act(id, event, by) {
      inspector.acts.push({ id, event, by });
      return attempt(() => known(id, sampleActor));
    },
  };
};
