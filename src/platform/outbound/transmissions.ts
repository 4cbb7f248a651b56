/** Sent messages that wait for the platform's word. Baileys reports only refusals; the acknowledgement is read from the stanza itself. */
import type { Transmission } from '#actors/ports.ts';

interface Waiting {
  readonly until: number;
  readonly settle: (transmission: Transmission) => void;
}

/** What refusals mean, for people. Codes that are not listed are told as they are. */
const refusals: Readonly<Record<number, string>> = {
  400: 'the message was refused as malformed',
  403: 'not allowed to write here',
  404: 'the recipient does not exist',
  406: 'the message is not acceptable',
  421: 'the group is addressed in an old way',
  429: 'too many messages',
  463: 'the account is restricted from starting new chats (reach-out time-lock)',
  475: 'the account is temporarily restricted',
  479: 'the stanza was refused as invalid',
};

export const refusalText = (code: number): string => refusals[code] ?? `the platform refused the message (${code})`;

export const connectionClosed: Transmission = { ok: false, reason: 'closed', error: 'the connection was closed' };

export const alreadyClosed: Transmission = { ok: false, reason: 'notSent', error: 'the connection was closed' };

export interface Transmissions {
  /** Resolves with the first of acknowledgement, refusal, time-out and close. `id` must not be waited for already. */
  wait(id: string): Promise<Transmission>;
  /** `<ack class="message">` */
  acknowledged(attrs: Readonly<Record<string, string | undefined>>): void;
  /** The message could not be handed over. */
  failed(id: string, transmission: Transmission): void;
  /** The connection is gone: whether what waits arrived is unknown. Idempotent. */
  close(): void;
  readonly closed: boolean;
}

export const createTransmissions = (options: { readonly timeoutMs: number; readonly now: () => number }): Transmissions => {
  const { timeoutMs, now } = options;
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
      if (until > now()) return watch(until);
      settle(id, { ok: false, reason: 'unknown', error: 'the platform did not acknowledge the message in time' });
    }
  };

  const watch = (until: number): void => {
    timer ??= setTimeout(expire, Math.max(1, until - now()));
  };

  return {
    wait: (id) =>
      new Promise((resolve) => {
        const until = now() + timeoutMs;
        waiting.set(id, { until, settle: resolve });
        watch(until);
      }),
    acknowledged({ id, error }) {
      if (id === undefined) return;
      const code = Number(error);
      if (error === undefined) settle(id, { ok: true, at: now() });
      else settle(id, { ok: false, reason: 'refused', error: refusalText(code), ...(Number.isNaN(code) ? {} : { code }) });
    },
    failed: settle,
    close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      closed = true;
      for (const id of waiting.keys()) settle(id, connectionClosed);
    },
    get closed() {
      return closed;
    },
  };
};
