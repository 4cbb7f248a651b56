/** The platform's restrictions of the account. They are queried on request and after a refused message, and updated by notifications. */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type { AccountLimits, Looked, NewChatCap, TimeLock } from '#actors/model.ts';
import { within } from '#actors/waiting.ts';
import { systemTime } from '#src/base/system-time.ts';
import { askMex, closeOf, type Json, mexNews, objectOf } from '../wire/outcomes.ts';

/** Two forms of the query for the limit of new chats: the form of the platform's present client, and the form of its former client. */
const capQueries = [
  ['27910975521856601', 'INDIVIDUAL_NEW_CHAT_MSG_THREAD'],
  ['24503548349331633', 'INDIVIDUAL_NEW_CHAT_MSG'],
] as const;

/** The longest wait of a refused message for the reason. In milliseconds. */
const reasonMs = 3_000;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Converts a number, which may be a text. Returns null for other values. */
const countOf = (value: unknown): number | null => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};
/** Converts seconds to milliseconds. Returns null for 0 and for other values. */
const timeOf = (value: unknown): number | null => {
  const seconds = countOf(value);
  return seconds === null || seconds === 0 ? null : seconds * 1000;
};

const capOf = (answer: Json): NewChatCap => ({
  status: textOf(answer['capping_status']),
  used: countOf(answer['used_quota']),
  total: countOf(answer['total_quota']),
  cycleStart: timeOf(answer['cycle_start_timestamp']),
  cycleEnd: timeOf(answer['cycle_end_timestamp']),
  sentAt: timeOf(answer['server_sent_timestamp']),
  oteStatus: textOf(answer['ote_status']),
  mvStatus: textOf(answer['mv_status']),
});

/** The length of a time-lock whose end the platform does not name. The platform's web client assumes the same length. In milliseconds. */
const unnamedLockMs = 60_000;

/** Returns the end of a time-lock; null if the lock is not active. `until`: the end that the platform names, or null. In Unix milliseconds. */
const endOf = (active: boolean, until: number | null): number | null => (active ? (until ?? systemTime.now() + unnamedLockMs) : null);

const timeLockOf = (answer: Json): TimeLock => ({
  active: answer['is_active'] === true,
  until: endOf(answer['is_active'] === true, timeOf(answer['time_enforcement_ends'])),
  kind: textOf(answer['enforcement_type']),
});

/** Returns a function that runs one query at a time. Concurrent calls share its answer. */
const shared = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let underWay: Promise<T> | null = null;
  return () =>
    (underWay ??= ask().finally(() => {
      underWay = null;
    }));
};

interface Limits {
  readonly timeLock: TimeLock;
  readonly cap: NewChatCap;
}

export class Standing {
  readonly #sock: WASocket;
  readonly #timeLocked: (lock: TimeLock) => void;
  /** The last known limits. */
  #known: Partial<Limits> = {};
  /** Queries the time-lock. Resolves with the last known time-lock if the query fails. */
  readonly timeLock = shared(() => this.#looked('timeLock', () => this.#askTimeLock()));
  readonly cap = shared(() => this.#looked('cap', () => this.#askCap()));

  /** `timeLocked` is called with each time-lock that the platform reports. */
  constructor(sock: WASocket, timeLocked: (lock: TimeLock) => void) {
    this.#sock = sock;
    this.#timeLocked = timeLocked;
    sock.ws.on('CB:notification,type:mex', (node: BinaryNode) => this.#hear(node));
  }

  /** Returns the limits that explain a refusal with this code, if they arrive within a few seconds. */
  async reasonOf(code: number): Promise<Partial<AccountLimits>> {
    const name = code === 463 ? 'timeLock' : code === 475 ? 'cap' : null;
    if (name === null) return {};
    const asked = this[name]();
    return (await within(systemTime, reasonMs, asked)) === 'done' ? { [name]: await asked } : {};
  }

  async #looked<N extends keyof Limits>(name: N, ask: () => Promise<Limits[N]>): Promise<Looked<Limits[N]>> {
    try {
      const value = await ask();
      this.#update({ [name]: value });
      return { ok: true, value };
    } catch (error) {
      const known = this.#known[name];
      return known === undefined ? { ok: false, error: closeOf(error).message } : { ok: true, value: known };
    }
  }

  async #askTimeLock(): Promise<TimeLock> {
    const { isActive = false, timeEnforcementEnds, enforcementType } = await this.#sock.fetchAccountReachoutTimelock();
    return { active: isActive, until: endOf(isActive, timeEnforcementEnds?.getTime() ?? null), kind: enforcementType ?? '' };
  }

  /** Queries the limit of new chats. If the present form of the query fails, sends the former form. */
  async #askCap(): Promise<NewChatCap> {
    let failure: unknown;
    for (const [id, type] of capQueries) {
      try {
        return capOf(await this.#mex(id, { input: { type } }, 'xwa2_message_capping_info'));
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  async #mex(id: string, variables: Json, root: string): Promise<Json> {
    const limits = await askMex(this.#sock, { id, root }, variables);
    if (limits === null) throw new Error('the platform did not answer with the limits of the account');
    return objectOf(limits);
  }

  #hear(node: BinaryNode): void {
    const data = mexNews(node);
    const lock = data['xwa2_notify_account_reachout_timelock'] as Json | null | undefined;
    const cap = data['xwa2_notify_new_chat_messages_capping_info_update'] as Json | null | undefined;
    if (lock) this.#update({ timeLock: timeLockOf(lock) });
    if (cap) this.#update({ cap: capOf(cap) });
  }

  #update(limits: Partial<Limits>): void {
    this.#known = { ...this.#known, ...limits };
    if (limits.timeLock !== undefined) this.#timeLocked(limits.timeLock);
  }
}
