/** Shapes of the stream and of the server's own state. */
import { Type } from 'typebox';
import { leaseCauses, roles } from '#actors/gateway.ts';
import { serverStatusFields } from '#src/contract/views.ts';
import { Count, Flag, OneOf, optional, Text } from './common.ts';

const names = (description: string) =>
  Type.Unsafe<string | readonly string[]>({
    type: ['string', 'array'],
    maxLength: 2000,
    maxItems: 64,
    items: { type: 'string', maxLength: 2000 },
    description,
  });

export const StreamQuery = Type.Object({
  token: Type.Optional(Type.Unsafe<unknown>({ description: 'Instance token' })),
  events: names('Event types, separated by commas or as repeated parameters'),
  excludeMessages: Type.Optional(names('Message types and filter names that the `messages` event leaves out')),
});

export const StreamAnswer = Type.String({ description: '`event: <type>`, then `data: {"type", "data"}`, then `id: <event id>`' });

export const MetricsAnswer = Type.String({ description: 'Series of the gateway; no instance and no person is named in them' });

export const HealthAnswer = Type.Object({ status: Type.String(), version: Type.String() });

export const RestartingAnswer = Type.Object({ message: Type.String() });

export const NodeParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 63, description: 'Name of the node' }) });

export const NodesAnswer = Type.Array(
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    owned: Type.Integer({ description: 'Instances that it owned when it last renewed its lease' }),
    capacity: Type.Integer({ description: 'Number of sessions that the node may own' }),
    astray: Type.Integer({
      description:
        'Differences between its leases in the database and those that it held, when it last compared them. It mends them by itself',
    }),
    bus: optional(
      Type.Boolean({
        description: 'True if the node reached NATS at its last renewal. Without NATS, only this node itself serves its sessions',
      }),
    ),
    state: OneOf(['live', 'draining', 'gone'], { description: '`gone`: it did not renew its lease, and others take its instances' }),
    draining: Type.Boolean({ description: 'True while the node hands over its sessions' }),
    age: Type.Number({ description: 'Milliseconds since it joined' }),
    leaseMs: Type.Number({ description: 'Milliseconds that its lease has left unless it is renewed' }),
    renewedMs: Type.Number({ description: 'Milliseconds since it last renewed its lease, which it does every 5 seconds' }),
    taken: Type.Partial(Type.Object(Object.fromEntries(leaseCauses.map((cause) => [cause, Type.Integer({ minimum: 0 })]))), {
      description:
        'Instances that it took within the last hour and still has. placed: it needed an owner; asked: a request needed it; moved and drained: another node gave it away; failover: its node died',
    }),
  }),
);

export const DrainingAnswer = Type.Object({ message: Type.String() });

export const ReadyReasons = Type.Array(Type.String(), { description: 'Reasons why the server cannot work now' });

export const ReadyAnswer = Type.Object({
  ready: Type.Literal(true),
  restored: Type.Optional(Type.Integer({ description: 'Sessions that were brought back since the start' })),
  total: Type.Optional(Type.Integer({ description: 'Sessions to bring back' })),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Problems for the operator while the server works: a doubtful clock, a disk that is nearly full',
    }),
  ),
});

export const ServerStatusAnswer = Type.Object(serverStatusFields);

const count = Type.Integer({ minimum: 0 });

const workerCrashes = Type.Record(Type.String(), count, {
  description: 'Crashes of background workers by name; each was restarted by itself. Empty when none crashed',
});

const ClientVersion = Type.Object(
  {
    version: Type.String({ examples: ['2.3000.1043857760'] }),
    source: Type.String({
      description: '`lookedUp`, `setting`, `builtIn`, or `rolledBack` if the platform refuses the one that was looked up',
    }),
    checkedAt: Type.Integer({ description: 'Unix milliseconds of the last look-up that brought a version; 0: never' }),
    error: Type.String({ description: 'Error of the last look-up; empty if it worked' }),
  },
  { description: 'The version of the web client that new connections name' },
);

export const NumbersAnswer = Type.Object({
  node: optional(
    Type.String({
      description: 'Name of this node; the figures beside `nodes` are those of the instances that it has. Only with several nodes',
    }),
  ),
  nodes: optional(NodesAnswer),
  registered: count,
  disconnected: count,
  connecting: count,
  connected: count,
  hibernated: count,
  failed: Type.Integer({ description: 'Disconnected ones that crashed again and again and were stopped' }),
  handshakesWaiting: Type.Integer({ description: 'Instances that wait for their turn to connect' }),
  clock: Type.String({ description: 'Reason why old data is not removed: the clock of the machine jumped; empty if it did not' }),
  barrier: Type.String({ description: 'Reason why all sessions wait for the try of one (`clientTooOld`, `outage`); empty if they do not' }),
  clientVersion: ClientVersion,
  loopLagMs: Type.Integer({ description: '99th percentile of the delay of the event loop' }),
  outbox: Type.Object({ waiting: count, parked: count }, { description: 'Deliveries of all webhooks, as last counted' }),
  workerCrashes,
  instances: Type.Array(
    Type.Object({
      id: Type.String(),
      status: Type.String(),
      attempts: count,
      opened: count,
      closes: Type.Record(Type.String(), count, { description: 'Closes by cause' }),
      crashes: Type.Integer({ description: 'Crashes of the session' }),
      workerCrashes,
      reconnectMs: count,
      longestReconnectMs: count,
      nextDelayMs: count,
      wakes: count,
      hibernatedMs: count,
      lastFrameAgeMs: Type.Union([count, Type.Null()]),
      eventsSetAside: Type.Integer({ description: 'Events that could not be rendered and were set aside' }),
      unrecorded: Type.Integer({ description: 'Entries that wait for storage' }),
      queued: Type.Integer({ description: 'Messages in the asynchronous queue' }),
    }),
  ),
});

// Shapes of the dashboard's session.

export const SessionAnswer = Type.Object({
  signedIn: Flag('A session of the dashboard came with the request'),
  user: Type.Optional(Type.String({ description: 'The name of the user; empty for the admin token. Present for a session only' })),
  role: Type.Optional(OneOf(roles, { description: 'The role of the session. Present for a session only' })),
  hasCode: Type.Optional(Flag('True if the user signs in with a one-time code. Present for a session only')),
  demo: Flag('The server is a public demo, where nobody can sign in'),
  sandbox: Type.Optional(Flag('The platform is simulated, and its phone can scan')),
  sandboxPage: Type.Optional(Type.String({ description: 'The address of the simulated phones; empty beside the real platform' })),
  version: Type.Optional(Type.String({ description: 'Version of the server; only for a session' })),
  clientVersion: Type.Optional(ClientVersion),
  cluster: Type.Optional(Flag('This gateway is one of several nodes; only for a session')),
  eventTypes: Type.Optional(Type.Array(Type.String(), { description: 'Events that webhooks can have; only for a session' })),
  streamTypes: Type.Optional(Type.Array(Type.String(), { description: 'Events that streams can have; only for a session' })),
  messageFilters: Type.Optional(Type.Array(Type.String(), { description: 'Messages that webhooks can leave out; only for a session' })),
});

export const TokenAnswer = Type.Object({ token: Type.String({ description: 'Token of the instance' }) });

export const ScanAnswer = Type.Object({ scanned: Flag('The phone has read the code; the session connects now') });

// Shapes of entries that the database refused.

export const RefusedQuery = Type.Object({
  instance: optional(Text(64, 'Id of an instance; all when it is left out')),
  limit: optional(Count(1, 1000, 'Entries at most; 100 when it is left out')),
  offset: optional(Count(0, 1_000_000, 'Entries to skip')),
});

export const RefusedParams = Type.Object({
  instance: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the instance' }),
  id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the entry' }),
});

export const RefusedAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      instanceId: Type.String(),
      id: Type.String(),
      kind: Type.String({ description: 'Kind of the reported entry, such as `message` or `status`' }),
      error: Type.String({ description: 'SQLSTATE of the database, or the name of the error' }),
      tries: Type.Integer(),
      at: Type.Number({ description: 'Time of the first refusal, in Unix milliseconds' }),
    }),
  ),
  more: Type.Boolean({ description: 'There are entries behind these' }),
});

export const RefusedDone = Type.Object({ message: Type.String() });
