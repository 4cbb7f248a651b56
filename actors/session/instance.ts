/**
 * The root machine of one instance. The machine supervises the lifecycle and the deliveries, and restarts what fails.
 *
 * A crash of the lifecycle closes the link first. A new lifecycle then starts from the record. After too many crashes the instance is `failed` until its
 * cool-down is over, or until a client connects or disconnects it. While there is no lifecycle, the last connect, disconnect or rest is kept for the next
 * lifecycle. The couriers keep running, because deliveries need no session.
 */
import { assign, enqueueActions, fromCallback, fromPromise, sendTo, setup, type SnapshotFrom } from 'xstate';
import type { CourierEvent, CourierHost, CourierInput } from '../delivery/courier-host.ts';
import { Courier } from '../delivery/courier.ts';
import type { Delivery } from '../model.ts';
import { addTime, backOff, capRetryMs } from '../policy/policy.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import { type Host, withReports } from './host.ts';
import type { LifecycleCommand, LifecycleInput } from './chart-setup.ts';
import { lifecycle } from './lifecycle.ts';

// Runs a courier as a child actor of its instance. The courier itself makes no actors, because one actor per post would cost more than the post.

interface SupervisedCourierInput extends CourierInput {
  readonly workers: SupervisedWorkers;
}

/**
 * Replaces a crashed courier after the back-off of its supervision. Events that arrive before the replacement are dropped, because the new courier reads the
 * outbox, which contains every row.
 */
const courier = fromCallback<CourierEvent, SupervisedCourierInput>(({ receive, input }) => {
  let current: Courier | null = null;
  let crashed = false;
  const replace = (): void => {
    current = new Courier(input, (error) => {
      current = null;
      crashed = true;
      worker.crashed(error);
    });
    if (crashed) current.handle({ type: 'delivery.added', rows: [] });
  };
  const worker = input.workers.supervise({ name: 'courier', fields: { webhook: input.webhookId }, run: replace });
  worker.wake();
  const renew = (): void => {
    if (current === null) return; // The next courier reads the outbox.
    current.stop();
    replace();
    current.handle({ type: 'delivery.added', rows: [] });
  };
  receive((event) => {
    if (event.type === 'delivery.asked') event.answer(current?.view ?? null);
    else if (event.type === 'delivery.replaced') renew();
    else current?.handle(event);
  });
  return () => {
    input.workers.dismiss(worker);
    current?.stop();
  };
});

export interface InstanceInput {
  readonly host: Host;
  readonly couriers: CourierHost;
  readonly workers: SupervisedWorkers;
  /** Returns the state in which the chart begins. Called at each start and restart, because the record may have changed. */
  readonly begin: () => LifecycleInput['begin'];
}

export type InstanceEvent =
  | LifecycleCommand
  /** Reports that the adapter of this instance threw outside of any call of the actors. */
  | { readonly type: 'link.surprised'; readonly error: unknown }
  /** Reports rows that were committed. An empty list means that rows may wait in the outbox. */
  | { readonly type: 'delivery.added'; readonly webhookId: string; readonly rows: readonly Delivery[] }
  /** Reports that the configuration of the webhook changed, or that the webhook is gone. */
  | { readonly type: 'delivery.changed'; readonly webhookId: string }
  /** Reports that rows of the outbox were dropped. */
  | { readonly type: 'delivery.trimmed'; readonly webhookId: string };

interface Context extends InstanceInput {
  readonly crashes: readonly number[];
  /** Message of the last crash, or '' if there was none. */
  readonly error: string;
  /** The last command that arrived while there was no lifecycle, or null. */
  readonly keptCommand: LifecycleCommand | null;
  /** True if the process is stopping. Nothing is opened any more. */
  readonly stopping: boolean;
}

/** Prefix of the child ids of couriers. */
const couriers = 'delivery.';
export const courierId = (webhookId: string) => `${couriers}${webhookId}`;
export const isCourier = (childId: string): boolean => childId.startsWith(couriers);

const rootSetup = setup({
  types: { context: {} as Context, events: {} as InstanceEvent, input: {} as InstanceInput },
  actors: {
    lifecycle,
    courier,
    closing: fromPromise<void, Host>(({ input }) => input.link.close()),
  },
  guards: {
    hasCommand: ({ context }) => context.keptCommand !== null,
    isStopping: ({ context }) => context.stopping,
    goesOn: ({ context }) => !context.stopping,
    hasRoom: ({ context }) => context.host.hasRoom(),
    crashesTooOften: ({ context }) => context.crashes.length >= context.host.policy.crash.limit,
  },
  actions: {
    rememberCrash: assign(({ context }, error: unknown) => ({
      crashes: addTime(context.crashes, context.host.now(), context.host.policy.crash.window),
      error: error instanceof Error ? error.message : String(error),
    })),
    reportCrash: ({ context: { host, crashes } }, error: unknown) => {
      host.report({ kind: 'crash' });
      host.log.error({ instance: host.id, crashes: crashes.length, error }, 'instance.crashed');
    },
    leaveGate: ({ context }) => context.host.gate.release(context.host.id),
    /** After the cool-down the instance is half-open. One more crash within the window makes it `failed` again. */
    halfOpen: assign(({ context: { host } }) => ({ crashes: Array.from({ length: host.policy.crash.limit - 1 }, () => host.now()) })),
    forgetCrashes: assign({ crashes: [], error: '' }),
    wantOnline: ({ context }) => context.host.note({ wanted: 'online' }),
    noteStopping: assign({ stopping: true }),
    keepCommand: assign((_, keptCommand: LifecycleCommand) => ({ keptCommand })),
    replayCommand: enqueueActions(({ context, enqueue }) => {
      if (context.keptCommand) enqueue.raise(context.keptCommand);
      enqueue.assign({ keptCommand: null });
    }),
    announceFailure: ({ context: { host, error } }) => {
      host.note({ lastDisconnect: host.now(), lastDisconnectReason: `crashed too often: ${error}`, lastDisconnectCause: 'crashed' });
      host.announce({ status: 'disconnected', lastDisconnect: host.now(), reason: `crashed too often: ${error}` });
    },
    pass: sendTo('lifecycle', (_, command: LifecycleCommand) => command),
    deliver: enqueueActions(({ context, enqueue, self }, event: CourierEvent & { webhookId: string }) => {
      const id = courierId(event.webhookId);
      const exists = self.getSnapshot().children[id] !== undefined;
      if (context.couriers.webhook(event.webhookId) === null) return enqueue.stopChild(id);
      if (!exists) {
        if (event.type !== 'delivery.added') return; // No row of this webhook was added, so there is no courier to inform.
        const { couriers, workers, host } = context;
        enqueue.spawnChild('courier', { id, input: { host: couriers, workers, instanceId: host.id, webhookId: event.webhookId } });
      }
      enqueue.sendTo(id, event);
    }),
  },
  delays: {
    restartDelay: ({ context: { host, crashes } }) => backOff(host.policy.reconnect, crashes.length - 1, host.random()),
    cooldown: ({ context: { host, crashes } }) => {
      const left = (crashes.at(-1) ?? 0) + host.policy.crash.cooldown - host.now();
      return left > 0 ? left : capRetryMs;
    },
  },
});

const pass = { actions: { type: 'pass' as const, params: ({ event }: { event: LifecycleCommand }) => event } };
const keepCommand = { type: 'keepCommand' as const, params: ({ event }: { event: LifecycleCommand }) => event };
/**
 * Transitions for commands after a crash. `later`: keep the command while the link is being closed. `now`: start the lifecycle at once, from `restarting` or
 * `failed`.
 */
const later = {
  'instance.connect': { actions: [keepCommand, 'wantOnline' as const] },
  'instance.disconnect': { actions: keepCommand },
  'instance.rest': { actions: keepCommand },
  'instance.stop': 'stopped',
} as const;
const now = {
  'instance.connect': { target: 'running', actions: [keepCommand, 'forgetCrashes' as const, 'wantOnline' as const] },
  'instance.disconnect': { target: 'running', actions: [keepCommand, 'forgetCrashes' as const] },
  'instance.rest': { target: 'running', actions: [keepCommand, 'forgetCrashes' as const] },
  'instance.stop': 'stopped',
} as const;
const deliver = {
  actions: { type: 'deliver' as const, params: ({ event }: { event: CourierEvent & { webhookId: string } }) => event },
};

const crash = (error: (args: { event: { error: unknown } }) => unknown) => ({
  target: 'recovering',
  actions: [
    { type: 'rememberCrash' as const, params: error },
    { type: 'reportCrash' as const, params: error },
  ],
});
const crashError = ({ event }: { event: { error: unknown } }) => event.error;

const root = rootSetup.createMachine({
  id: 'instance',
  context: ({ input }) => ({ ...input, crashes: [], error: '', keptCommand: null, stopping: false }),
  initial: 'running',
  on: {
    'delivery.added': deliver,
    'delivery.changed': deliver,
    'delivery.trimmed': deliver,
    'link.surprised': { actions: { type: 'reportCrash', params: crashError } },
  },
  states: {
    running: {
      entry: 'replayCommand',
      invoke: {
        id: 'lifecycle',
        src: 'lifecycle',
        input: ({ context }) => ({ host: context.host, begin: context.begin() }),
        onError: crash(crashError),
      },
      on: {
        'link.surprised': crash(crashError),
        'instance.connect': { guard: 'goesOn', ...pass },
        'instance.disconnect': pass,
        'instance.rest': pass,
        'instance.reset': { guard: 'goesOn', ...pass },
        'instance.hibernate': pass,
        'passkey.assert': pass,
        'passkey.confirm': pass,
        'passkey.cancel': pass,
        'instance.stop': { actions: ['noteStopping', pass.actions] },
      },
    },
    recovering: {
      entry: 'leaveGate',
      invoke: { src: 'closing', input: ({ context }) => context.host, onDone: 'deciding', onError: 'deciding' },
      on: later,
    },
    deciding: {
      always: [
        { guard: 'isStopping', target: 'stopped' },
        { guard: 'hasCommand', target: 'running', actions: 'forgetCrashes' },
        { guard: 'crashesTooOften', target: 'failed', actions: 'announceFailure' },
        { target: 'restarting' },
      ],
    },
    restarting: { after: { restartDelay: 'running' }, on: now },
    failed: {
      after: {
        cooldown: [
          { guard: 'hasRoom', target: 'running', actions: 'halfOpen' },
          { target: 'failed', reenter: true },
        ],
      },
      on: now,
    },
    stopped: {},
  },
});

export const instance = withReports(root);

export type InstanceSnapshot = SnapshotFrom<typeof instance>;
