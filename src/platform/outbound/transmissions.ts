/** Sent messages that wait for the platform's acknowledgement. Baileys reports only refusals, so acknowledgements are read from their stanzas. */
import type { Outcome } from '#actors/ports.ts';
import { lateAnswer, lostAnswer, notSent, refused } from '../wire/outcomes.ts';

/** The outcome of a sent message. `at`: the time of the acknowledgement in Unix milliseconds. `serverId`: the number of a post in its channel. */
export type Transmission = Outcome<{ readonly at: number; readonly serverId?: number }>;

interface Waiting {
  /** The deadline by the monotonic clock. */
  readonly until: number;
  readonly settle: (transmission: Transmission) => void;
  /** True after the frame has left the process. */
  written: boolean;
}

/** Texts for refusals by the platform's code. A code that is not in this table is shown as a number. */
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

/** The text for a 463 without a time-lock, which concerns only this recipient (WhiskeySockets/Baileys 2683, oxidezap/whatsapp-rust 730). */
export const addressRefused =
  "the platform refuses this recipient (463), although the account has no time-lock: it wants the recipient's other id or a privacy token. Let the recipient write first, or look the number up again";

export const refusalText = (code: number): string => refusals[code] ?? `the platform refused the message (${code})`;

interface TransmissionsInput {
  /** Time limit of the wait for an acknowledgement. In milliseconds. */
  readonly timeoutMs: number;
  /** The wall clock, for the time of an acknowledgement. The time limit uses the monotonic clock, so a step of the wall clock cannot change it. */
  readonly now: () => number;
}

export class Transmissions {
  readonly #input: TransmissionsInput;
  /** Waiting messages. All have the same time limit, so they expire in the order of insertion, and one timer serves all. */
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(input: TransmissionsInput) {
    this.#input = input;
  }

  /** Resolves with the acknowledgement, the refusal, the time-out or the close, whichever comes first. No other wait for this `id` may be open. */
  wait(id: string): Promise<Transmission> {
    return new Promise((resolve) => {
      const until = performance.now() + this.#input.timeoutMs;
      this.#waiting.set(id, { until, settle: resolve, written: false });
      this.#watch(until);
    });
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** Notes that the frame of this message left the process. */
  written(id: string): void {
    const entry = this.#waiting.get(id);
    if (entry) entry.written = true;
  }

  /** Handles the attributes of an `<ack class="message">`. */
  acknowledged({ id, error, server_id: serverId }: Readonly<Record<string, string | undefined>>): void {
    if (id === undefined) return;
    const code = Number(error);
    const at = this.#input.now();
    if (error === undefined) this.#settle(id, { ok: true, value: { at, ...(serverId ? { serverId: Number(serverId) } : {}) } });
    else this.#settle(id, refused(Number.isNaN(code) ? null : code, refusalText(code)));
  }

  /** Settles a message that could not be sent. */
  failed(id: string, transmission: Transmission): void {
    this.#settle(id, transmission);
  }

  /** Ends all waits. The outcome of a written message is unknown. All other waiting messages were not sent. Idempotent. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#closed = true;
    for (const [id, { written }] of this.#waiting) this.#settle(id, written ? lostAnswer : notSent);
  }

  get closed(): boolean {
    return this.#closed;
  }

  #settle(id: string, transmission: Transmission): void {
    const entry = this.#waiting.get(id);
    this.#waiting.delete(id);
    entry?.settle(transmission);
  }

  #watch(until: number): void {
    this.#timer ??= setTimeout(() => this.#expire(), Math.max(1, until - performance.now()));
  }

  #expire(): void {
    this.#timer = null;
    for (const [id, { until }] of this.#waiting) {
      if (until > performance.now()) return this.#watch(until);
      this.#settle(id, lateAnswer);
    }
  }
}
