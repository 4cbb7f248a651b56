/** The parts of a session's chart: its events, context, guards, actions and delays. The states and transitions are in `lifecycle.ts`. */
import { assign, enqueueActions, fromCallback, fromPromise, sendTo, setup, spawnChild, stopChild } from 'xstate';
import { classify, isPairingEnd, ranOut, type Reaction, type Verdict } from '../policy/close-cause.ts';
import { addTime, backOff, between, capRetryMs } from '../policy/policy.ts';
import {
  type Close,
  type Identity,
  type OpenOptions,
  type PasskeyAssertion,
  type PasskeyOptions,
  type PasskeyStep,
  type PlatformFact,
  StorageFailure,
} from '../ports.ts';
import type { Origin } from '../views/inspector.ts';
import type { InstancePatch, Wanted } from '../model.ts';
import type { Host } from './host.ts';
import { passkeyLimits, type PasskeyOffer } from './passkey.ts';

/** The input of a chart. `begin` selects the first state, and is read from the record when the actor is created. */
export interface LifecycleInput {
  readonly host: Host;
  readonly begin: Wanted;
}

/** The origin of a command; the API of the instance if absent. */
interface Sent {
  readonly by?: Origin;
}

export type LifecycleCommand =
  | ({ readonly type: 'instance.connect'; readonly options: OpenOptions } & Sent)
  | ({ readonly type: 'instance.disconnect' } & Sent)
  | ({ readonly type: 'instance.reset' } & Sent)
  | ({ readonly type: 'instance.hibernate' } & Sent)
  /** Passes the platform's challenge, signed by the browser of the owner. */
  | ({ readonly type: 'passkey.assert'; readonly assertion: PasskeyAssertion } & Sent)
  /** Confirms that the phone shows the same code. */
  | ({ readonly type: 'passkey.confirm' } & Sent)
  | ({ readonly type: 'passkey.cancel' } & Sent)
  /** Closes the session without a logout. The session stays disconnected until a caller connects it. The `connection` event carries `reason`. */
  | ({ readonly type: 'instance.rest'; readonly reason: string } & Sent)
  /** Closes the session for a stop of the process, or for a move to another node. The actor ignores later connects. */
  | ({ readonly type: 'instance.stop' } & Sent)
  /**
   * Starts one platform request. The request becomes the child `op.N` in `connected`, and is ignored in other states. `run` is called while the chart
   * handles this event, or never.
   */
  | { readonly type: 'instance.request'; readonly n: number; readonly run: (signal: AbortSignal) => Promise<unknown> };

/** The end of a child `op.N`, with or without success. The caller of the operation already has the answer. */
interface OperationEnd {
  readonly type: 'operation.ended';
  readonly id: string;
}

export type LifecycleEvent = LifecycleCommand | PlatformFact | OperationEnd;

export interface Context {
  readonly host: Host;
  readonly begin: LifecycleInput['begin'];
  readonly options: OpenOptions;
  /** The QR code as a PNG data URL, or ''. */
  readonly qrcode: string;
  readonly paircode: string;
  readonly qrAnnounced: boolean;
  /** The passkey that the platform asks for, or null. */
  readonly passkey: PasskeyOffer | null;
  /** The number of closes since the last stable connection, without the restarts that the platform requested. Used for the back-off. */
  readonly failures: number;
  readonly unknowns: number;
  readonly restarts: readonly number[];
  readonly takeOvers: readonly number[];
  readonly openedAt: number;
  /** The time of the pairing in this process; 0 if there was none. In Unix milliseconds. */
  readonly pairedAt: number;
  readonly retryInMs: number;
  /** The number of consecutive attempts to read or remove credentials that failed. */
  readonly retries: number;
  /** The reason why the phone still lists a device that was to be unlinked, or ''. */
  readonly stillLinked: string;
  /** The last time at which a connect cut a back-off or a suspension short. By the monotonic clock. */
  readonly cutAt: number;
  readonly verdict: Verdict | null;
}

/** The input of an admission. `isDoubtful`: true if the proxy caused the last close. */
interface Admission {
  readonly host: Host;
  readonly isDoubtful: boolean;
}

/** A request to the link: replace the current offer by a pairing code, or pass a passkey step of the owner. */
type LinkRequest = { readonly type: 'pairByCode'; readonly phone: string } | { readonly type: 'passkey'; readonly step: PasskeyStep };

/** Forwards the facts of the link. A stopped actor belongs to an old generation, so its facts are dropped. */
const linkLogic = fromCallback<LinkRequest, { host: Host; options: OpenOptions }>(({ sendBack, receive, input: { host, options } }) => {
  let current = true;
  let facts = 0;
  const pass = (fact: PlatformFact): void => {
    facts += 1;
    if (current) sendBack(fact);
  };
  /** Makes the picture of a QR code, which takes a while. The picture is dropped if another fact arrived meanwhile. */
  const show = async (qr: string): Promise<void> => {
    const before = (facts += 1);
    try {
      const picture = await host.media.qrPng(qr);
      if (facts === before) pass({ type: 'platform.qr', qr: picture });
    } catch (error) {
      host.log.error({ instance: host.id, error }, 'qr.failed');
    }
  };
  receive((request) => {
    facts += 1; // A request invalidates the picture that is being made.
    if (request.type === 'passkey') host.link.passkey(request.step);
    else host.link.pair(request.phone);
  });
  host.link.open(options, (fact) => (fact.type === 'platform.qr' ? void show(fact.qr) : pass(fact)));
  return () => {
    current = false;
  };
});

interface Operation {
  readonly id: string;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Runs one platform request. Its signal aborts when the session leaves `connected`. All operations report their end by an event of one type, because XState
 * caches data per event type for ever. A promise actor would end with a type of its own, which costs 334 bytes a message (measured).
 */
const operationLogic = fromCallback<{ type: string }, Operation>(({ sendBack, input: { id, run } }) => {
  const ended: OperationEnd = { type: 'operation.ended', id };
  const controller = new AbortController();
  let running = true;
  const end = (): void => {
    running = false;
    sendBack(ended);
  };
  void Promise.try(run, controller.signal).then(end, end);
  // An operation that has ended is not aborted, because each abort creates an error with a stack (7 to 14 µs).
  return () => {
    if (running) controller.abort();
  };
});

const operationOf = (event: LifecycleEvent): Operation => {
  if (event.type !== 'instance.request') throw new Error(`${event.type} starts no operation`);
  return { id: `op.${event.n}`, run: event.run };
};

const situationOf = (context: Context, now: number) => {
  const { policy } = context.host;
  return {
    restarts: addTime(context.restarts, now, policy.restarts.window).length,
    restartLimit: policy.restarts.limit,
    unknowns: context.unknowns + 1,
    unknownLimit: policy.unknownCloseLimit,
    takeOvers: addTime(context.takeOvers, now, policy.replaced.window).length,
    pairedAt: context.pairedAt,
    now,
  };
};

const judge = (context: Context, close: Close, pairing: boolean): Verdict =>
  classify(close, { ...situationOf(context, context.host.now()), pairing });

/** Returns the counters after a close, and the delay that follows from them. */
function afterClose(context: Context, verdict: Verdict): Partial<Context> {
  const { host } = context;
  const now = host.now();
  const { reconnect, restarts, replaced } = host.policy;
  const stable = context.openedAt > 0 && now - context.openedAt >= reconnect.stable;
  const failures = stable ? 0 : context.failures;
  const late = verdict.reaction === 'contest';
  return {
    verdict,
    openedAt: 0,
    failures: verdict.reaction === 'reopen' ? failures : failures + 1,
    unknowns: verdict.cause === 'unknownError' ? context.unknowns + 1 : context.unknowns,
    restarts: verdict.cause === 'restartRequired' ? addTime(context.restarts, now, restarts.window) : context.restarts,
    takeOvers: verdict.cause === 'replaced' ? addTime(context.takeOvers, now, replaced.window) : context.takeOvers,
    retryInMs: late ? between(replaced.min, replaced.max, host.random()) : backOff(reconnect, failures, host.random()),
  };
}

const retryOf = ({ context: { host, retries } }: { context: Context }): Pick<Context, 'retries' | 'retryInMs'> => ({
  retries: retries + 1,
  retryInMs: backOff(host.policy.reconnect, retries, host.random()),
});

const isAnotherPairing = ({ host, options }: Context, asked: OpenOptions): boolean => !host.paired() && asked.phone !== options.phone;

/** Extra time before the chart ends a pairing. The link normally ends a pairing first, with a more exact reason. In milliseconds. */
const pairingGrace = 500;

export const noFailures = { failures: 0, retries: 0, unknowns: 0, restarts: [], takeOvers: [], verdict: null } as const;
export const noOffer = { qrcode: '', paircode: '', qrAnnounced: false, passkey: null } as const;

/** Waits for a slot of the gate. */
export const admission = {
  src: 'admission',
  input: ({ context: { host, verdict } }: { context: Context }) => ({ host, isDoubtful: verdict?.cause === 'proxyFailed' }),
  onDone: 'opening',
} as const;

export const chartSetup = setup({
  // The tag `closing` marks states in which commands wait. The tag `undiscarded` marks states that wait for the next attempt to remove credentials.
  types: { context: {} as Context, events: {} as LifecycleEvent, input: {} as LifecycleInput, tags: {} as 'closing' | 'undiscarded' },
  actors: {
    link: linkLogic,
    admission: fromPromise<void, Admission>(({ input: { host, isDoubtful }, signal }) => host.gate.admit(host.id, signal, isDoubtful)),
    closing: fromPromise<void, Host>(({ input: { link } }) => link.close()),
    /** Resolves with true if the platform confirmed the logout. */
    loggingOut: fromPromise<boolean, Host>(({ input: { link } }) => link.logout()),
    /** Closes the link. Resolves with true if credentials of a finished pairing exist. */
    closingPaired: fromPromise<boolean, Host>(async ({ input: { link } }) => {
      await link.close();
      return link.paired();
    }),
    discarding: fromPromise<void, { host: Host; how: 'delete' | 'setAside'; reason: string }>(async ({ input: { host, how, reason } }) =>
      host.link.discard(how, reason),
    ),
    operation: operationLogic,
  },
  guards: {
    begins: ({ context }, begin: LifecycleInput['begin']) => context.begin === begin,
    means: ({ context }, params: { close: Close; pairing: boolean; reactions: readonly Reaction[] }) =>
      params.reactions.includes(judge(context, params.close, params.pairing).reaction),
    /** Returns true if the caller asks for another pairing than the current one. Always false for a paired session. */
    asksAnew: ({ context }, options: OpenOptions) => isAnotherPairing(context, options),
    asksForCode: ({ context }, options: OpenOptions) => options.phone !== undefined && isAnotherPairing(context, options),
    /** Returns true if a connect may cut a wait short. Without this limit, a client that polls connect would flood the platform with connections. */
    mayCut: ({ context: { host, cutAt } }) => host.monotonic() - cutAt >= host.policy.reconnect.cutEvery,
    storageFailed: (_, error: unknown) => error instanceof StorageFailure,
    isTrue: (_, answer: boolean) => answer,
    /** Returns true if the suspension is over, and the cap has room. */
    mayReturn: ({ context: { host, verdict } }) => (verdict?.until ?? 0) <= host.now() && host.hasRoom(),
  },
  actions: {
    rememberOptions: assign((_, options: OpenOptions) => ({ options, ...noFailures, ...noOffer })),
    noteCut: assign(({ context }) => ({ cutAt: context.host.monotonic() })),
    rememberRequest: assign((_, options: OpenOptions) => ({ options, ...noOffer })),
    pairByCode: sendTo('link', ({ context }): LinkRequest => ({ type: 'pairByCode', phone: context.options.phone ?? '' })),
    sendPasskeyStep: sendTo('link', (_, step: PasskeyStep): LinkRequest => ({ type: 'passkey', step })),
    reportActivity: ({ context: { host } }, kind: 'attempt' | 'asleep' | 'awake') => host.report({ kind }),
    reportClose: ({ context: { host, verdict, retryInMs } }) => {
      if (verdict) host.report({ kind: 'closed', verdict, retryInMs });
    },
    passGate: ({ context: { host } }) => host.gate.passed(host.id),
    openLink: spawnChild('link', { id: 'link', input: ({ context }) => ({ host: context.host, options: context.options }) }),
    dropLink: stopChild('link'),
    leaveGate: ({ context }) => context.host.gate.release(context.host.id),
    withdrawOffer: assign(noOffer),
    offerQr: enqueueActions(({ context, enqueue }, qrcode: string) => {
      if (!context.qrAnnounced) enqueue(() => context.host.announce({ status: 'connecting', qrcode }));
      enqueue.assign({ qrcode, qrAnnounced: true });
    }),
    offerPasskey: enqueueActions(({ context: { host }, enqueue }, options: PasskeyOptions) => {
      const passkey: PasskeyOffer = {
        stage: 'assertion',
        options,
        code: '',
        isLinking: false,
        expiresAt: host.now() + passkeyLimits.assertion,
      };
      enqueue.assign({ ...noOffer, passkey });
      enqueue(() => host.announce({ status: 'connecting', passkey }));
    }),
    notePasskeySent: assign(({ context: { host } }, isLinking: boolean) => ({
      passkey: { stage: 'phone' as const, options: null, code: '', isLinking, expiresAt: host.now() + passkeyLimits.step },
    })),
    offerPasskeyCode: enqueueActions(({ context: { host }, enqueue }, shown: string) => {
      const passkey: PasskeyOffer = {
        stage: 'code',
        options: null,
        code: shown,
        isLinking: false,
        expiresAt: host.now() + passkeyLimits.step,
      };
      enqueue.assign({ passkey });
      enqueue(() => host.announce({ status: 'connecting', passkey }));
    }),
    notePasskeyEnded: ({ context: { host } }, lastDisconnectReason: string) =>
      host.note({ wanted: 'offline', lastDisconnect: host.now(), lastDisconnectReason, lastDisconnectCause: 'passkeyFailed' }),
    announceStopped: ({ context: { host } }, reason: string) => host.announce({ status: 'disconnected', reason }),
    offerCode: assign((_, paircode: string) => ({ paircode })),
    rememberClose: assign(({ context }, params: { close: Close; pairing: boolean }) =>
      afterClose(context, judge(context, params.close, params.pairing)),
    ),
    noteClose: ({ context: { host, verdict } }) => {
      if (!verdict || verdict.cause === 'restartRequired') return;
      host.log.info({ instance: host.id, cause: verdict.cause, reaction: verdict.reaction, reason: verdict.sentence }, 'session.closed');
      if (isPairingEnd(verdict.cause)) host.note({ wanted: 'offline' });
      host.note({ lastDisconnect: host.now(), lastDisconnectReason: verdict.sentence, lastDisconnectCause: verdict.cause });
    },
    noteIdentity: ({ context: { host } }, identity: Identity) => host.note({ ...identity, lastActiveAt: host.now() }),
    notePatch: ({ context: { host } }, patch: InstancePatch) => host.note(patch),
    notePairingEnded: ({ context: { host } }) =>
      host.note({ wanted: 'offline', lastDisconnect: host.now(), lastDisconnectReason: ranOut, lastDisconnectCause: 'pairingExpired' }),
    noteRefused: ({ context: { host } }) => host.note({ wanted: 'offline' }),
    forgetVerdict: assign({ verdict: null }),
    forgetFailures: assign(noFailures),
    noteStillLinked: enqueueActions(({ context: { host, verdict }, enqueue }, reason: string) => {
      const lastClose = verdict ? { lastClose: verdict.sentence } : {};
      enqueue(() => host.log.warn({ instance: host.id, account: host.account(), reason, ...lastClose }, 'session.stillLinked'));
      enqueue.assign({ stillLinked: reason });
    }),
    forgetStillLinked: assign({ stillLinked: '' }),
    noteRetry: assign(retryOf),
    noteNotDiscarded: enqueueActions(({ context, enqueue }, error: unknown) => {
      const retry = retryOf({ context });
      enqueue(() => context.host.log.error({ instance: context.host.id, retryInMs: retry.retryInMs, error }, 'session.notDiscarded'));
      enqueue.assign(retry);
    }),
    noteLoggedOut: ({ context: { host } }) => host.note({ wanted: 'offline', jid: '', lid: '' }),
    noteAsleep: ({ context: { host } }) => host.note({ wanted: 'asleep', lastActiveAt: host.now() }),
    notePaired: assign(({ context }) => ({ pairedAt: context.host.now() })),
    noteOpened: assign(({ context }) => ({ openedAt: context.host.now(), unknowns: 0, ...noOffer })),
    goLive: ({ context }) => context.host.live(),
    announceConnected: ({ context }) => context.host.announce({ status: 'connected' }),
    announceHibernated: ({ context }) => context.host.announce({ status: 'hibernated' }),
    announcePairingEnded: ({ context: { host } }) => host.announce({ status: 'disconnected', reason: ranOut }),
    announceDisconnected: ({ context: { host, verdict } }) =>
      host.announce({
        status: 'disconnected',
        lastDisconnect: host.now(),
        reason: verdict?.sentence ?? 'disconnected by the user',
        loggedOut: verdict === null || verdict.cause === 'loggedOut',
      }),
    startOperation: spawnChild('operation', { id: ({ event }) => operationOf(event).id, input: ({ event }) => operationOf(event) }),
    endOperation: stopChild((_, id: string) => id),
    /** Aborts the signals of all requests. Their promises still answer the callers. */
    abortOperations: enqueueActions(({ enqueue, self }) => {
      // A chart has no snapshot when a test only explores its states.
      for (const id of Object.keys(self.getSnapshot()?.children ?? {})) if (id.startsWith('op.')) enqueue.stopChild(id);
    }),
  },
  delays: {
    retryDelay: ({ context }) => context.retryInMs,
    suspension: ({ context: { host, verdict } }) => {
      const left = (verdict?.until ?? 0) - host.now();
      return left > 0 ? left : capRetryMs;
    },
    unlinkLimit: ({ context }) => context.host.policy.unlinkTimeout,
    pairingLimit: ({ context }) => context.host.policy.pairing[context.options.phone === undefined ? 'qr' : 'code'] + pairingGrace,
    passkeyLimit: passkeyLimits.assertion,
    passkeyStepLimit: passkeyLimits.step,
  },
});
