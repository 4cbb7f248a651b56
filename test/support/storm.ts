/** Causes all faults of sessions, each a fixed number of times in random order. Two storms of the same size have the same faults. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from '#src/sandbox/interface.ts';
import type { Database } from '#src/storage/postgres/database.ts';
import type { Account } from './account.ts';
import type { Flow } from './flow.ts';
import type { PlatformProcess } from './platform-process.ts';
import { shuffled } from './random.ts';
import type { Receiver } from './receivers.ts';

export interface StormOptions {
  readonly platform: PlatformProcess;
  readonly receiver: Receiver;
  /** The database of the gateway, with the rights of an administrator. */
  readonly database: Database;
  readonly flow: Flow;
  /** At least a hundred accounts. Each gets at most one of the faults for single sessions. */
  readonly accounts: readonly Account[];
  readonly random: () => number;
  /** The factor for the number of faults and texts. 1 if absent. */
  readonly share?: number;
  /** Accounts that their phones unlink. */
  readonly leaving?: readonly Account[];
  /** Runs once, in the middle of the storm. */
  readonly between?: () => Promise<void>;
}

type Step = () => Promise<unknown>;
type Times = readonly (readonly [times: number, fault: Fault])[];

/** Faults of a live session. */
const live: Times = [
  [2, { kind: 'close' }],
  [1, { kind: 'close', code: 1001 }],
  [1, { kind: 'close', code: 1011 }],
  [1, { kind: 'close', code: 4000 }],
  [5, { kind: 'reset' }],
  [3, { kind: 'streamError', code: 503 }],
  [4, { kind: 'streamError', code: 515 }],
  [1, { kind: 'streamError', code: 516 }],
  [1, { kind: 'streamError', code: 500 }],
  [1, { kind: 'streamError' }],
  [2, { kind: 'streamEnd' }],
  [3, { kind: 'conflict' }],
  [4, { kind: 'corruptFrame' }],
  [3, { kind: 'delay', ms: 200 }],
  [3, { kind: 'noAck' }],
  [2, { kind: 'ackError', code: 463 }],
  [1, { kind: 'ackError', code: 479 }],
  [3, { kind: 'duplicate', times: 2 }],
];

/** Faults of the next login, which the storm causes. */
const atLogin: Times = [
  [2, { kind: 'loginFailure', code: 500 }],
  [2, { kind: 'loginFailure', code: 503 }],
  [1, { kind: 'loginFailure', code: 405 }],
  [3, { kind: 'closeAfterLogin', times: 2 }],
];

/** Faults of the next login after which a person has to connect the session. */
const refusing: Times = [
  [1, { kind: 'loginFailure', code: 402 }],
  [1, { kind: 'loginFailure', code: 402, ms: 1000 }],
  [1, { kind: 'loginFailure', code: 403 }],
  [1, { kind: 'loginFailure', code: 406 }],
  [1, { kind: 'loginFailure', code: 409 }],
  [1, { kind: 'loginFailure', code: 411 }],
];

/** Faults of the next connection of any session. */
const anybody: readonly Fault[] = [
  { kind: 'refuseUpgrade', code: 403 },
  { kind: 'refuseUpgrade', code: 429, times: 2 },
  { kind: 'refuseUpgrade', code: 502 },
  { kind: 'refuseUpgrade', code: 503, times: 2 },
  { kind: 'garbageHandshake', times: 2 },
  { kind: 'badCertificate' },
];

/** The largest number of instances that a storm leaves disconnected. */
export const mostRefused = refusing.length;

const hibernations = 8;
const resets = 4;
const databaseCuts = 3;
/** The number of steps per round. */
const perRound = 8;
/** The length of a round. In milliseconds. */
const roundMs = 300;

const repeat = <T>(times: number, make: () => T): T[] => Array.from({ length: times }, make);

/** Ends every connection of the gateway to the database, whose server keeps running. */
const cutDatabase = ({ database }: StormOptions): Promise<unknown> =>
  database.rows({ name: '', text: `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'dormouse%'` }, []);

const refuseEvents = async ({ receiver, random }: StormOptions): Promise<void> => {
  receiver.answer(503);
  await wait(random() * 500);
  receiver.answer(200);
};

/** Hibernates an instance until another step wakes it. */
const sendToSleep = async ({ flow }: StormOptions, account: Account): Promise<void> => {
  flow.spared.add(account);
  await account.call('POST', '/instance/hibernate');
};

/** Wakes an instance by a command, or by the next text. */
const wakeOne = async ({ flow, random }: StormOptions): Promise<void> => {
  const [account] = shuffled([...flow.spared], random);
  if (account === undefined) return;
  flow.spared.delete(account);
  if (random() < 0.5) await account.connect();
};

const stepsOf = (options: StormOptions): Step[] => {
  const { platform, random, share = 1, leaving = [] } = options;
  const targets = shuffled(options.accounts, random);
  const each = (times: number, act: (account: Account) => Promise<unknown>): Step[] =>
    repeat(times, () => {
      const account = targets.pop();
      if (account === undefined) throw new Error('a storm needs more accounts');
      return () => act(account);
    });
  const reset = (account: Account) => account.call('POST', '/instance/reset');
  const hit = (faults: Times, provoke: (account: Account) => Promise<unknown> = () => Promise.resolve()): Step[] =>
    faults.flatMap(([times, fault]) =>
      each(times, (account) => platform.fault({ ...fault, number: account.number }).then(() => provoke(account))),
    );
  // These faults start early, because the gateway notices them only by its own time-outs.
  const early = [
    ...hit([[3, { kind: 'silence' }]]),
    ...hit([[1, { kind: 'noLogin' }]], reset),
    () => platform.fault({ kind: 'silentHandshake' }),
  ];
  const mixed = [
    ...hit(live),
    ...hit(atLogin, reset),
    ...hit(refusing, reset),
    ...anybody.map((fault) => () => platform.fault(fault)),
    ...each(resets, reset),
    ...each(hibernations, (account) => sendToSleep(options, account)),
    ...repeat(hibernations, () => () => wakeOne(options)),
    ...repeat(databaseCuts, () => () => cutDatabase(options)),
    () => refuseEvents(options),
  ];
  const some = (steps: readonly Step[]): Step[] => shuffled(steps, random).slice(0, Math.ceil(steps.length * share));
  const farewells = leaving.map(
    ({ number }) =>
      () =>
        platform.logout(number),
  );
  return [...some(early), ...shuffled([...some(mixed), ...farewells], random)];
};

/** Runs the storm. Resolves after all steps, although some faults may still wait for their trigger. Texts have to arrive between rounds. */
export const rage = async (options: StormOptions): Promise<void> => {
  const { flow, random, between } = options;
  const steps = stepsOf(options);
  const middle = Math.ceil(steps.length / perRound / 2) * perRound;
  for (let at = 0; at < steps.length; at += perRound) {
    if (at === middle) await between?.();
    const begun = steps.slice(at, at + perRound).map(async (step) => {
      await wait(random() * roundMs);
      await step();
    });
    await Promise.all([...begun, flow.proceeds()]);
  }
};

/** Ends all faults, active and pending. */
export const calm = async (platform: PlatformProcess): Promise<void> => {
  const armed = [...live, ...atLogin, ...refusing].map(([, { kind }]) => kind).concat(anybody.map(({ kind }) => kind));
  for (const kind of new Set([...armed, 'silence', 'noLogin', 'silentHandshake'] as const)) await platform.fault({ kind, times: 0 });
};
