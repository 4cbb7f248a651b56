/** Shapes of the inspector. */
import { Type } from 'typebox';
import { actorEventTypes, actorSorts, chartNames, leaseCauses, logLevels, origins, statuses } from '#actors/gateway.ts';
import { Count, OneOf, optional, Text } from './common.ts';

const count = Type.Integer({ minimum: 0 });
const moment = (description: string) => Type.Number({ description: `${description}, in Unix milliseconds` });
const text = (description: string, example?: string) =>
  Type.String({ description, ...(example === undefined ? {} : { examples: [example] }) });

const counts = Type.Object({ connected: count, connecting: count, hibernated: count, disconnected: count, needsPerson: count });

const state = text('Path in the chart of the session; `crashed` and `failed` when there is no chart', 'connecting.waiting');
const reason = text('Why it is not connected; empty when nothing is wrong', '503: the platform is unavailable');

const row = {
  id: text('Of the instance', 'r1a2b3c4d5e6f7'),
  name: text('As the instance was named', 'shop'),
  number: text('The last four digits; empty without an account', '…1234'),
  picture: text('Changes with the picture of the account; empty while the gateway has none', '3f2a9c01d4e5b677'),
  status: OneOf(statuses),
  state,
  needsPerson: Type.Boolean({ description: 'True if the session waits for an operator' }),
  linked: Type.Boolean({ description: 'True if the instance has credentials; without them a phone has to link it first' }),
  since: moment('When it came to this state'),
  reason,
  cause: text('The reason as a stable word', 'connectionLost'),
  lastEvent: moment('The last message either way, or call that needed the platform'),
  queue: Type.Integer({ minimum: 0, description: 'Messages in the asynchronous queue' }),
  outbox: Type.Integer({ minimum: 0, description: 'Deliveries to webhooks that are in memory' }),
  hour: text(
    'The last hour in 24 parts, oldest first: c connected, w connecting, h hibernated, d disconnected, p needs a person, . not known',
    '..ccccwcccccccccccccccww',
  ),
  node: optional(text('Name of the node that owns it; empty when none does. Only with several nodes', 'node-a')),
};

export const ActorsQuery = Type.Object({
  state: optional(Text(500, 'Words of the interface, paths of the chart, or `needsPerson`; several with commas')),
  reason: optional(Text(500, 'Stable words as in `cause`; several with commas')),
  q: optional(Text(200, 'Somewhere in id, name, number, state or reason')),
  node: optional(Text(63, 'Name of the node that owns the instances. Only with several nodes')),
  sort: optional(
    OneOf([...actorSorts, ...actorSorts.map((name) => `-${name}` as const)], { description: '`trouble` when absent; `-` turns it round' }),
  ),
  after: optional(Text(1000, '`next` of the page before')),
  limit: optional(Count(0, 999_999, 'At most 1000; 200 when absent')),
});

export const ActorsAnswer = Type.Object({
  total: Type.Integer({ minimum: 0, description: 'Number of matching instances' }),
  counts: Type.Object(counts.properties, { description: 'Counts of all instances' }),
  rows: Type.Array(Type.Object(row)),
  next: text('For `after`; empty on the last page'),
  warnings: optional(Type.Array(Type.String(), { description: 'Problems of this server for the operator; absent if there are none' })),
  silent: optional(
    Type.Array(Type.String(), {
      description: 'Nodes that did not answer: their instances are shown as the database has them. Only with several nodes',
    }),
  ),
});

export const ActorParams = Type.Object({ id: Text(64, 'Id of the instance') });

const cause = Type.Object({
  kind: OneOf(['close', 'timer', 'worker', 'command', 'platform', 'start', 'crash']),
  code: optional(Type.Union([Type.Integer(), Type.Null()])),
  cause: optional(text('Cause of a close, as a stable word')),
  reaction: optional(text('Reaction to the close')),
  sentence: optional(text('Meaning of the close')),
  retryInMs: optional(Type.Number({ description: '0 when nothing is tried by itself' })),
  delay: optional(text('Name of the timer')),
  ms: optional(Type.Number({ description: 'Length of the timer in milliseconds' })),
  src: optional(text('The worker that ended')),
  ok: optional(Type.Boolean()),
  by: optional(OneOf(origins)),
  error: optional(text('Name of the error')),
});

export const Step = Type.Object({
  n: Type.Integer({
    description: 'Counts the steps of the instance in this process, from 1; those of earlier processes have numbers up to 0',
  }),
  at: moment('When'),
  chart: OneOf(chartNames),
  from: text('State that was left', 'connected'),
  to: text('State that was entered', 'connecting.waiting'),
  event: text('Such as `platform.closed`, `after.retryDelay`, `done.closing`', 'platform.closed'),
  edge: text('Id of the transition of the chart', 'connected>connecting.waiting'),
  cause,
  why: text('The cause as a sentence'),
});

const Health = Type.Object(
  {
    isFailing: Type.Boolean({ description: 'The last three attempts failed' }),
    delivered: count,
    attempts: count,
    lastError: Type.Union([Type.Object({ at: moment('Of the attempt'), status: count, error: Type.String() }), Type.Null()]),
  },
  { description: 'Figures of the last hundred attempts at the receiver' },
);

const Part = Type.Object({
  id: text('`supervisor`, `link`, `operations`, `recorder`, `recordKeeper`, `queue`, `courier.<webhook>`', 'recorder'),
  state: OneOf(['ok', 'busy', 'off', 'trouble']),
  note: text('In words', '0 wait'),
  waiting: count,
  crashes: count,
  courier: optional(
    Type.Object({
      webhookId: Type.String(),
      host: text('Of the receiver'),
      lanes: Type.Object({ used: count, of: count }),
      circuit: Type.Object({ open: Type.Boolean(), failures: count, until: moment('Next probe; 0 when it is closed') }),
      health: optional(Type.Union([Health, Type.Null()], { description: 'Null before the first attempt' })),
    }),
  ),
});

const orNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const lease = Type.Object({
  node: text('Name of the node', 'node-a'),
  since: moment('Since when it owns the instance'),
  cause: OneOf(leaseCauses),
  answers: Type.Boolean({ description: 'False: the node did not answer, and the rest is what the database knows' }),
});

export const ActorAnswer = Type.Object({
  ...row,
  lease: optional(
    Type.Union([lease, Type.Null()], {
      description: 'Node that owns the instance, and the reason; null if no node does. Only with several nodes',
    }),
  ),
  root: text('State of the machine that restarts the chart; `resting` when the instance needs no actors yet', 'running'),
  wanted: OneOf(['offline', 'online', 'asleep', 'unlinked']),
  attempts: Type.Integer({ minimum: 0, description: 'Connections tried since the start of the process' }),
  failures: Type.Integer({ minimum: 0, description: 'Closes in a row' }),
  retryAt: orNull('When it is tried again by itself, in Unix milliseconds; null when it is not'),
  lastFrameAge: orNull('Milliseconds since the last frame of a live session'),
  crashes: Type.Integer({ minimum: 0, description: 'Crashes of the chart' }),
  logLevel: Type.Union([Type.Object({ level: Type.String(), until: moment('Until when') }), Type.Null()], {
    description: 'Level of the log for this instance; null when that of the process counts',
  }),
  parts: Type.Array(Part),
  steps: Type.Array(Step, { description: 'The last 100 transitions, oldest first' }),
});

const kind = OneOf(['event', 'after', 'done', 'failed', 'always']);

export const MachinesAnswer = Type.Array(
  Type.Object({
    id: OneOf(chartNames),
    initial: Type.String(),
    description: Type.String(),
    states: Type.Array(
      Type.Object({
        id: text('Path', 'connecting.waiting'),
        parent: text('Empty at the top', 'connecting'),
        kind: OneOf(['atomic', 'compound', 'final']),
        initial: optional(Type.String()),
        tags: Type.Array(Type.String()),
        invokes: Type.Array(Type.String()),
        description: Type.String(),
      }),
    ),
    transitions: Type.Array(
      Type.Object({
        id: text('The arrow; transitions that share it have the same id', 'connected>connecting.waiting'),
        from: Type.String(),
        to: Type.String(),
        leaf: text('The atomic state that is entered'),
        event: Type.String(),
        kind,
        guard: text('Empty for none', 'means(backOff|contest|gate)'),
        delay: optional(text('Name of the delay')),
        reenter: Type.Boolean(),
      }),
    ),
    events: Type.Array(Type.Object({ name: Type.String(), kind, description: Type.String() })),
    layouts: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Positions for a picture: `wide` and `tall`, and `wideFolded` and `tallFolded` with the housekeeping states in one box',
    }),
  }),
);

export const MachineParams = Type.Object({ id: OneOf(chartNames, { description: 'Id of the machine' }) });

export const StepsQuery = Type.Object({
  after: optional(
    Count(0, Number.MAX_SAFE_INTEGER, 'Number of the last step that is known; those after it come first. As the header Last-Event-ID'),
  ),
});

export const StepsAnswer = Type.String({
  description: '`event: step`, then `data:` with a step as in `steps` of the instance, then `id: <n>`',
});

export const ChangesAnswer = Type.String({
  description:
    '`event: moved`, then `data: {"changes": [[id, state, since, reason, status, needsPerson, linked]], "counts"}`, gathered over 200 ms; the state of an instance that is gone is empty',
});

const longestLevel = 1440;

export const EventBody = Type.Object({
  type: OneOf(actorEventTypes, {
    description:
      'reconnect: close the connection and open it again; hibernate; wake; clearCircuit: ask the receiver of a webhook again at once; restartWorker: run a crashed worker at once; logLevel: log more, or less, of this instance for some time',
  }),
  webhook: optional(Text(64, 'For clearCircuit: id of the webhook')),
  worker: optional(Text(64, 'For restartWorker: its name; any that crashed when absent')),
  level: optional(OneOf(logLevels, { description: 'For logLevel' })),
  minutes: optional(Type.Integer({ minimum: 1, maximum: longestLevel, description: 'For logLevel: how long it counts; 60 when absent' })),
});

export const SourceAnswer = Type.String({ description: 'A module with the machine, as Stately’s editor opens it' });
