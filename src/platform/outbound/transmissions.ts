/** Sent messages that wait for the platform's ack. Baileys reports only refusals; the ack is read from the stanza itself. */
import type { Outcome } from '#actors/ports.ts';
import { lateAnswer, lostAnswer, notSent, refused } from '../wire/outcomes.ts';

/** `at`: Unix milliseconds of the ack. `serverId`: the number of a post in its channel. */
export type Transmission = Outcome<{ readonly at: number; readonly serverId?: number }>;

interface Waiting {
  /** The deadline by the monotonic clock. */
  readonly until: number;
  readonly settle: (transmission: Transmission) => void;
  /** The frame left the process. */
  written: boolean;
}

/** The meaning of refusals, for people. A code that is not listed appears as a number. */
const refusals: Readonly<Record<number, string>> = {
  400: 'the message was refused as malformed',
  401: 'no right to write here',
  403: 'not allowed to write here',
  404: 'the recipient does not exist',
  406: 'the message is not acceptable',
  421: 'the group is addressed in an old way',
  429: 'too many messages',
  463: 'the account is restricted from starting new chats (reach-out time-lock)',
  475: 'the account is temporarily restricted',
  479: 'the stanza was refused as invalid',
};

/** A 463 without a time-lock is about this one recipient (WhiskeySockets/Baileys 2683, oxidezap/whatsapp-rust 730). */
export const addressRefused =
  "the platform refuses this recipient (463), although the account has no time-lock: it wants the recipient's other id or a privacy token. Let the recipient write first, or look the number up again";

export const refusalText = (code: number): string => refusals[code] ?? `the platform refused the message (${code})`;

export interface Transmissions {
  /** Resolves with the first of ack, refusal, time-out and close. `id` must not be waited for already. */
  wait(id: string): Promise<Transmission>;
  isWaiting(id: string): boolean;
  /** The frame of this message left the process. */
  written(id: string): void;
  /** `<ack class="message">` */
  acknowledged(attrs: Readonly<Record<string, string | undefined>>): void;
  /** The message could not be handed over. */
  failed(id: string, transmission: Transmission): void;
  /** The connection is gone: what was written may have arrived, the rest did not leave. Idempotent. */
  close(): void;
  readonly closed: boolean;
}

/** `now`: the wall clock, for the time of an ack. The waiting goes by the monotonic clock, which no step of the wall clock prolongs. */
export const createTransmissions = (options: { readonly timeoutMs: number; readonly now: () => number }): Transmissions => {
  const { timeoutMs, now } = options;
  const monotonic = (): number => performance.now();
  /** Every message waits equally long, so that the order of insertion is the order of expiry and one timer serves all. */
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  const settle = (id: string, transmission: Transmission): void => {
    const entry = waiting.get(id);
    waiting.delete(id);
    entry?.settle(transmission);
  };

  const expire = (): void => {
    timer = null;
    for (const [id, { until }] of waiting) {
      if (until > monotonic()) return watch(until);
      settle(id, lateAnswer);
    }
  };

  const watch = (until: number): void => {
    timer ??= setTimeout(expire, Math.max(1, until - monotonic()));
  };

  return {
    wait: (id) =>
      new Promise((resolve) => {
        const until = monotonic() + timeoutMs;
        waiting.set(id, { until, settle: resolve, written: false });
        watch(until);
      }),
    isWaiting: (id) => waiting.has(id),
    written(id) {
      const entry = waiting.get(id);
      if (entry) entry.written = true;
    },
    acknowledged({ id, error, server_id: serverId }) {
      if (id === undefined) return;
      const code = Number(error);
      if (error === undefined) settle(id, { ok: true, value: { at: now(), ...(serverId ? { serverId: Number(serverId) } : {}) } });
      else settle(id, refused(Number.isNaN(code) ? null : code, refusalText(code)));
    },
    failed: settle,
    close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      closed = true;
      for (const [id, { written }] of waiting) settle(id, written ? lostAnswer : notSent);
    },
    get closed() {
      return closed;
    },
  };
};
