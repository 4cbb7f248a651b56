/**
 * The statechart of one session: disconnected, connecting, connected, hibernated and unlinking. `status.ts` maps its states to the words of the API.
 *
 * A state exists only where behaviour differs. The socket belongs to the link, which survives a crash of the chart. A command that ends a connection passes
 * through a state `closing`, so that a session never has two sockets.
 */
import type { Reaction } from '../policy/close-cause.ts';
import type { Close, Identity, OpenOptions, PasskeyOptions } from '../ports.ts';
import { admission, noFailures, chartSetup, noOffer, type Context } from './chart-setup.ts';
import { passkeyCancelled, waitsForPasskey } from './passkey.ts';
import { withReports } from './host.ts';

type AfterClose = 'announceDisconnected' | 'noteRefused' | ReturnType<typeof stillLinked>;

/** Returns the transition for a close. `pairing` is true while a code or a passkey is on offer. A lost connection then means that the offer expired. */
const onClose =
  (pairing: boolean) =>
  (reactions: readonly Reaction[], target: string, more: readonly AfterClose[] = []) =>
    ({
      guard: { type: 'means' as const, params: ({ event }: { event: { close: Close } }) => ({ close: event.close, pairing, reactions }) },
      target,
      reenter: true, // A close in `opening` must run its entry actions again.
      actions: [
        { type: 'rememberClose' as const, params: ({ event }: { event: { close: Close } }) => ({ close: event.close, pairing }) },
        'dropLink' as const,
        'noteClose' as const,
        'reportClose' as const,
        ...more,
      ],
    }) as const;

/**
 * Transitions for a close, one for each group of reactions of `policy/close-cause.ts`. `reopen`: the state after a close with which the platform requests a
 * restart.
 */
const closes = (pairing: boolean, reopen: 'opening' | 'admission' = 'opening') => {
  const row = onClose(pairing);
  return [
    row(['reopen'], `#lifecycle.connecting.${reopen}`),
    row(['backOff', 'contest', 'gate'], '#lifecycle.connecting.waiting'),
    row(['loggedOut'], '#lifecycle.disconnected.settingAside'),
    row(['stop'], '#lifecycle.disconnected.idle', ['announceDisconnected']),
    row(['suspend'], '#lifecycle.disconnected.suspended', ['announceDisconnected']),
    row(['refuse'], '#lifecycle.disconnected.refused', ['noteRefused', 'announceDisconnected']),
  ] as const;
};

const stillLinked = (reason: string) => ({ type: 'noteStillLinked' as const, params: reason });
const loggingOut = '#lifecycle.disconnected.loggingOut';
const abandoning = '#lifecycle.disconnected.abandoning';

type Afterwards = 'forgetVerdict' | 'noteLoggedOut' | 'noteAsleep' | 'announceDisconnected' | 'announceHibernated';

/** Transitions for a close while the session connects only to unlink the device. */
const closesUnlinking = [
  onClose(false)(['reopen'], '#lifecycle.unlinking.opening'),
  onClose(false)(['backOff', 'contest', 'gate'], '#lifecycle.unlinking.waiting'),
  onClose(false)(['loggedOut'], '#lifecycle.disconnected.deleting'),
  onClose(false)(['stop', 'suspend', 'refuse'], abandoning, [stillLinked('closed by the platform')]),
] as const;

/** Closes the socket before the target state. A failed close counts as done, because the adapter has dropped the socket by then. */
const closing = (target: string, actions: readonly Afterwards[] = []) => ({
  tags: ['closing' as const],
  entry: ['dropLink' as const, 'leaveGate' as const],
  invoke: {
    src: 'closing' as const,
    input: ({ context }: { context: Context }) => context.host,
    onDone: { target, actions },
    onError: { target, actions },
  },
});

/** Removes credentials before the target state. Failures are retried, because the old credentials would allow a login without pairing. */
const discarding = (how: 'delete' | 'setAside', target: string, later: string, actions: readonly Afterwards[]) => ({
  tags: ['closing' as const],
  on: { 'instance.connect': {}, 'instance.disconnect': {} },
  invoke: {
    src: 'discarding' as const,
    input: ({ context }: { context: Context }) => ({
      host: context.host,
      how,
      reason: context.verdict?.sentence ?? 'disconnected by the user',
    }),
    onDone: { target, actions },
    onError: {
      target: later,
      actions: { type: 'noteNotDiscarded' as const, params: ({ event }: { event: { error: unknown } }) => event.error },
    },
  },
});

/** Waits between two attempts to remove credentials. After a stop, the next start retries. */
const discardingLater = (again: string) => ({
  tags: ['undiscarded' as const],
  after: { retryDelay: again },
  on: { 'instance.connect': again, 'instance.disconnect': 'deleting', 'instance.stop': 'idle' },
});

/** The state that logs out a session without a live connection. The session logs in first, because only a live session can unlink its device. */
const unlink = '#lifecycle.unlinking';

const rest = {
  target: '#lifecycle.disconnected.closing',
  actions: [
    'forgetVerdict' as const,
    { type: 'announceStopped' as const, params: ({ event }: { event: { reason: string } }) => event.reason },
  ],
} as const;

/** Commands that end a connection. In `connected`, `instance.disconnect` has a transition of its own, because a live session can log out at once. */
const endings = {
  'instance.disconnect': unlink,
  'instance.rest': rest,
  'instance.hibernate': '#lifecycle.hibernated.closing',
  'instance.stop': '#lifecycle.disconnected.closing',
  'instance.reset': '#lifecycle.connecting.closing',
} as const;

const connect = {
  target: '#lifecycle.connecting.admission',
  actions: { type: 'rememberOptions' as const, params: ({ event }: { event: { options: OpenOptions } }) => event.options },
} as const;

const asked = ({ event }: { event: { options: OpenOptions } }) => event.options;
const asksAnew = { type: 'asksAnew' as const, params: asked };
const rememberRequest = { type: 'rememberRequest' as const, params: asked };

/** Transitions for a connect during pairing. A repeated request has no effect. Only a change to a QR code needs a new connection. */
const pairAnew = (target?: string) =>
  [
    {
      guard: { type: 'asksForCode' as const, params: asked },
      ...(target === undefined ? {} : { target }),
      actions: [rememberRequest, 'pairByCode' as const],
    },
    { guard: asksAnew, target: '#lifecycle.connecting.closing', actions: rememberRequest },
  ] as const;
const requestLater = { guard: asksAnew, actions: rememberRequest };

const opened = {
  target: '#lifecycle.connected',
  actions: { type: 'noteIdentity' as const, params: ({ event }: { event: { identity: Identity } }) => event.identity },
} as const;

const paired = {
  target: '#lifecycle.connecting.authenticating',
  actions: [
    { type: 'noteIdentity' as const, params: ({ event }: { event: { identity: Identity } }) => event.identity },
    { type: 'notePaired' as const },
  ],
} as const;

const qr = {
  target: '#lifecycle.connecting.pairing',
  actions: { type: 'offerQr' as const, params: ({ event }: { event: { qr: string } }) => event.qr },
} as const;

const code = {
  target: '#lifecycle.connecting.pairing',
  actions: { type: 'offerCode' as const, params: ({ event }: { event: { code: string } }) => event.code },
} as const;

const passkeyRequested = {
  target: '#lifecycle.connecting.passkey',
  reenter: true, // Another challenge of the platform restarts the time limit.
  actions: { type: 'offerPasskey' as const, params: ({ event }: { event: { options: PasskeyOptions } }) => event.options },
} as const;

/** Transitions of all passkey states. A new challenge restarts the passkey steps. A connect for another pairing starts again on a new connection. */
const inPasskey = {
  'instance.connect': { guard: asksAnew, target: '#lifecycle.connecting.closing', actions: rememberRequest },
  'passkey.cancel': passkeyCancelled,
  'platform.passkeyRequested': passkeyRequested,
  'platform.paired': paired,
  'platform.opened': opened,
  'platform.closed': closes(true),
} as const;

const chart = chartSetup.createMachine({
  id: 'lifecycle',
  context: ({ input }) => ({
    ...input,
    options: {},
    openedAt: 0,
    pairedAt: 0,
    retryInMs: 0,
    cutAt: -Infinity,
    stillLinked: '',
    ...noOffer,
    ...noFailures,
  }),
  initial: 'beginning',
  on: {
    'operation.ended': { actions: { type: 'endOperation', params: ({ event }) => event.id } },
  },
  states: {
    beginning: {
      always: [
        { guard: { type: 'begins', params: 'online' }, target: 'connecting' },
        { guard: { type: 'begins', params: 'asleep' }, target: 'hibernated' },
        { guard: { type: 'begins', params: 'unlinked' }, target: 'unlinking' },
        { target: 'disconnected' },
      ],
    },
    disconnected: {
      initial: 'idle',
      entry: ['leaveGate', 'withdrawOffer'],
      on: { 'instance.connect': connect, 'instance.disconnect': unlink },
      states: {
        idle: {},
        loggedOut: {},
        suspended: {
          on: {
            'instance.connect': [{ guard: 'mayCut', ...connect, actions: ['noteCut', connect.actions] }, {}],
            'instance.rest': rest,
            'instance.stop': 'idle',
          },
          after: {
            suspension: [
              { guard: 'mayReturn', target: '#lifecycle.connecting' },
              { target: 'suspended', reenter: true },
            ],
          },
        },
        refused: {},
        closing: { ...closing('idle'), on: { 'instance.connect': {} } },
        loggingOut: {
          tags: 'closing',
          entry: ['dropLink', 'leaveGate', 'forgetStillLinked'],
          invoke: {
            src: 'loggingOut',
            input: ({ context }) => context.host,
            onDone: [
              { guard: { type: 'isTrue', params: ({ event }) => event.output }, target: 'deleting', actions: 'forgetVerdict' },
              { target: 'deleting', actions: ['forgetVerdict', stillLinked('the platform did not confirm the logout')] },
            ],
            onError: { target: 'deleting', actions: ['forgetVerdict', stillLinked('the logout could not be sent')] },
          },
          on: { 'instance.connect': {}, 'instance.disconnect': {} },
        },
        abandoning: { ...closing('deleting', ['forgetVerdict']), on: { 'instance.connect': {}, 'instance.disconnect': {} } },
        deleting: discarding('delete', 'idle', 'deletingLater', ['noteLoggedOut', 'announceDisconnected']),
        deletingLater: discardingLater('deleting'),
        settingAside: discarding('setAside', 'loggedOut', 'settingAsideLater', ['noteLoggedOut', 'announceDisconnected']),
        settingAsideLater: discardingLater('settingAside'),
      },
    },
    connecting: {
      initial: 'admission',
      on: endings,
      states: {
        admission: {
          on: { 'instance.connect': requestLater },
          invoke: admission,
        },
        opening: {
          entry: [{ type: 'reportActivity', params: 'attempt' }, 'openLink'],
          on: {
            'instance.connect': pairAnew(),
            'platform.handshaken': 'authenticating',
            'platform.qr': qr,
            'platform.paired': paired,
            'platform.opened': opened,
            'platform.closed': closes(false),
          },
        },
        authenticating: {
          on: {
            'instance.connect': pairAnew(),
            'platform.qr': qr,
            'platform.code': code,
            'platform.passkeyRequested': passkeyRequested,
            'platform.paired': paired,
            'platform.opened': opened,
            'platform.closed': closes(false),
          },
        },
        pairing: {
          entry: 'leaveGate',
          after: { pairingLimit: { target: '#lifecycle.disconnected.closing', actions: ['notePairingEnded', 'announcePairingEnded'] } },
          on: {
            'instance.connect': pairAnew('authenticating'),
            'platform.qr': { actions: qr.actions },
            'platform.code': { actions: code.actions },
            'platform.passkeyRequested': passkeyRequested,
            'platform.paired': paired,
            'platform.opened': opened,
            'platform.closed': closes(true),
          },
        },
        passkey: {
          ...waitsForPasskey('passkeyLimit'),
          on: {
            ...inPasskey,
            'passkey.assert': {
              target: 'passkeyPhone',
              actions: [
                { type: 'sendPasskeyStep', params: ({ event }) => ({ type: 'assert', assertion: event.assertion }) },
                { type: 'notePasskeySent', params: false },
              ],
            },
          },
        },
        passkeyPhone: {
          ...waitsForPasskey('passkeyStepLimit'),
          on: {
            ...inPasskey,
            'platform.passkeyCode': [
              {
                guard: { type: 'isTrue', params: ({ event }) => event.handedOff },
                target: 'passkeyPhone',
                reenter: true,
                actions: { type: 'notePasskeySent', params: true },
              },
              { target: 'passkeyCode', actions: { type: 'offerPasskeyCode', params: ({ event }) => event.code } },
            ],
          },
        },
        passkeyCode: {
          ...waitsForPasskey('passkeyStepLimit'),
          on: {
            ...inPasskey,
            'passkey.confirm': {
              target: 'passkeyPhone',
              actions: [
                { type: 'sendPasskeyStep', params: { type: 'confirm' } },
                { type: 'notePasskeySent', params: true },
              ],
            },
          },
        },
        waiting: {
          entry: ['leaveGate', 'withdrawOffer'],
          after: { retryDelay: 'admission' },
          on: { 'instance.connect': [{ guard: 'mayCut', target: 'admission', actions: ['noteCut', rememberRequest] }, requestLater] },
        },
        closing: { ...closing('admission'), on: { 'instance.connect': requestLater } },
      },
    },
    connected: {
      entry: ['passGate', 'noteOpened', 'announceConnected', 'goLive'],
      exit: 'abortOperations',
      on: {
        ...endings,
        'instance.disconnect': loggingOut,
        'instance.request': { actions: 'startOperation' },
        'platform.identity': { actions: { type: 'notePatch', params: ({ event }) => event.patch } },
        'platform.closed': closes(false, 'admission'), // A live session has given its slot back to the gate.
      },
    },
    hibernated: {
      initial: 'asleep',
      on: { 'instance.connect': connect, 'instance.disconnect': unlink, 'instance.rest': rest, 'instance.stop': {} },
      states: {
        closing: { ...closing('asleep', ['noteAsleep', 'announceHibernated']), on: { 'instance.connect': {} } },
        asleep: { entry: { type: 'reportActivity', params: 'asleep' }, exit: { type: 'reportActivity', params: 'awake' } },
      },
    },
    // Connects only to unlink the device, for at most `unlinkTimeout`. The credentials are removed even if the unlinking fails. The cap of connected
    // sessions does not count these logins, because the gate limits them.
    unlinking: {
      tags: 'closing',
      initial: 'closing',
      entry: ['forgetFailures', 'forgetStillLinked'],
      after: { unlinkLimit: { target: abandoning, actions: stillLinked('not logged in within the limit') } },
      on: { 'instance.stop': { target: abandoning, actions: stillLinked('the gateway stops') } },
      states: {
        closing: {
          entry: ['dropLink', 'leaveGate', 'withdrawOffer'],
          invoke: {
            src: 'closingPaired',
            input: ({ context }) => context.host,
            onDone: [{ guard: { type: 'isTrue', params: ({ event }) => event.output }, target: 'admission' }, { target: abandoning }],
            onError: [
              {
                guard: { type: 'storageFailed', params: ({ event }: { event: { error: unknown } }) => event.error },
                target: 'waiting',
                actions: 'noteRetry',
              },
              { target: abandoning, actions: stillLinked('the credentials cannot be read') },
            ],
          },
        },
        admission: {
          invoke: admission,
        },
        opening: {
          entry: [{ type: 'reportActivity', params: 'attempt' }, 'openLink'],
          on: { 'platform.opened': { target: loggingOut, actions: 'passGate' }, 'platform.closed': closesUnlinking },
        },
        waiting: { entry: 'leaveGate', after: { retryDelay: 'closing' } },
      },
    },
  },
});

export const lifecycle = withReports(chart);
