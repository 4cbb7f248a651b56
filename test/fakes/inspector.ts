/** What a gateway in memory says when it is looked into: real charts, and one live instance with two steps. */
import type { ActorDetail, ActorPage, Gateway } from '#actors/gateway.ts';
import { charts } from '#actors/session/charts.ts';
import { instance as sample, now } from '#test/contract/samples.ts';

const { steps, parts, root, wanted, attempts, failures, retryAt, lastFrameAge, crashes, ...row } = {
  id: sample.record.id,
  name: sample.record.name,
  number: '…7777',
  status: 'connected',
  state: 'connected',
  needsPerson: false,
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
  parts: [
    {
      id: 'courier.w1',
      state: 'ok',
      note: 'nothing waits',
      waiting: 0,
      crashes: 0,
      courier: { webhookId: 'w1', host: 'example.com', lanes: { used: 0, of: 8 }, circuit: { open: false, failures: 0, until: 0 } },
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

export const sampleActor: ActorDetail = { ...row, steps, parts, root, wanted, attempts, failures, retryAt, lastFrameAge, crashes };

const page: ActorPage = {
  total: 1,
  counts: { connected: 1, connecting: 0, hibernated: 0, disconnected: 0, needsPerson: 0 },
  rows: [row],
  next: '',
};

type InspectorCalls = Pick<Gateway, 'charts' | 'chartSource' | 'actors' | 'actor'>;

export const inspectorCalls: InspectorCalls = {
  charts: () => [charts.lifecycle, charts.instance],
  chartSource: () => null,
  actors: () => ({ ok: true, value: page }),
  actor: (id) =>
    id === sampleActor.id
      ? { ok: true, value: sampleActor }
      : { ok: false, refusal: { reason: 'notFound', message: 'instance not found' } },
};
