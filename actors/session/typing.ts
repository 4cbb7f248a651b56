/** Renews typing and recording states in chats, because the platform's apps forget them after some seconds. */
import { refuse, type Result } from '../model.ts';
import type { Time, TypingState } from '../ports.ts';

/** The pause between two renewals. Apps show typing for some 25 s after the stanza. In milliseconds. */
export const renewEvery = 10_000;
/** Tolerance for a timer that fires early. In milliseconds. */
const earlyMs = 50;

export interface TypingInput {
  readonly time: Pick<Time, 'monotonic' | 'setTimeout' | 'clearTimeout'>;
  /** The largest number of chats with a renewed state at once. */
  readonly atOnce: number;
  /** Shows a state in a chat. `signal` belongs to the request of the caller. Without `signal` the function makes its own request, and does not reject. */
  readonly write: (chatId: string, state: TypingState, signal?: AbortSignal) => Promise<Result<null>>;
}

interface Shown {
  readonly state: TypingState;
  /** The end of the typing by the monotonic clock. */
  readonly until: number;
  timer: unknown;
}

export class Typing {
  readonly #input: TypingInput;
  readonly #shown = new Map<string, Shown>();

  constructor(input: TypingInput) {
    this.#input = input;
  }

  /** The number of chats with a renewed state. */
  get count(): number {
    return this.#shown.size;
  }

  /** Shows a state for `delay` milliseconds. This state replaces the state that the chat shows now. */
  async show(chatId: string, state: TypingState, delay: number, signal: AbortSignal): Promise<Result<null>> {
    const { time, atOnce, write } = this.#input;
    this.end(chatId);
    if (state === 'paused' || delay <= 0) return write(chatId, state, signal);
    if (this.#shown.size >= atOnce)
      return refuse('limited', `typing is kept up in ${atOnce} chats already`, { retryAfter: renewEvery / 1000 });
    const shown: Shown = { state, until: time.monotonic() + delay, timer: null };
    // The state is registered before the write, so that a message that is sent meanwhile ends it.
    this.#shown.set(chatId, shown);
    let kept = false;
    try {
      const written = await write(chatId, state, signal);
      kept = written.ok;
      return written;
    } finally {
      if (kept) this.#wait(chatId, shown);
      else this.#drop(chatId, shown);
    }
  }

  /** Ends the state of a chat because a message is being sent. The message ends the typing on the other phone. */
  end(chatId: string): void {
    const shown = this.#shown.get(chatId);
    if (shown) this.#drop(chatId, shown);
  }

  /** Ends all states, because the session is gone. */
  stop(): void {
    for (const chatId of this.#shown.keys()) this.end(chatId);
  }

  #drop(chatId: string, shown: Shown): void {
    this.#input.time.clearTimeout(shown.timer);
    if (this.#isCurrent(chatId, shown)) this.#shown.delete(chatId);
  }

  #isCurrent(chatId: string, shown: Shown): boolean {
    return this.#shown.get(chatId) === shown;
  }

  #wait(chatId: string, shown: Shown): void {
    if (!this.#isCurrent(chatId, shown)) return;
    const left = shown.until - this.#input.time.monotonic();
    shown.timer = this.#input.time.setTimeout(() => void this.#renew(chatId, shown), Math.max(0, Math.min(left, renewEvery)));
  }

  async #renew(chatId: string, shown: Shown): Promise<void> {
    if (this.#input.time.monotonic() >= shown.until - earlyMs) {
      this.#drop(chatId, shown);
      await this.#input.write(chatId, 'paused');
      return;
    }
    const written = await this.#input.write(chatId, shown.state);
    if (written.ok) this.#wait(chatId, shown);
    else this.#drop(chatId, shown);
  }
}
