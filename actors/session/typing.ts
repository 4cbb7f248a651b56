/** Typing and recording that are kept up in chats: the platform's apps forget them after some seconds. */
import { refuse, type Result } from '../model.ts';
import type { Time, TypingState } from '../ports.ts';

/** Milliseconds. Apps show typing for some 25 s after the stanza. */
export const renewEvery = 10_000;
/** Milliseconds that a timer may come early by the clock of the wall. */
const early = 50;

export interface TypingInput {
  readonly time: Pick<Time, 'now' | 'setTimeout' | 'clearTimeout'>;
  /** Chats in which something may be kept up at once. */
  readonly atOnce: number;
  /** Shows a state in a chat. `signal`: of the call that asks for it; without one it is asked for by itself, and does not reject. */
  readonly write: (chatId: string, state: TypingState, signal?: AbortSignal) => Promise<Result<null>>;
}

interface Shown {
  readonly state: TypingState;
  readonly until: number;
  timer: unknown;
}

export class Typing {
  readonly #input: TypingInput;
  readonly #shown = new Map<string, Shown>();

  constructor(input: TypingInput) {
    this.#input = input;
  }

  /** Chats in which something is kept up. */
  get count(): number {
    return this.#shown.size;
  }

  /** Shows a state and keeps it up for `delay` milliseconds, in place of whatever is shown in this chat. */
  async show(chatId: string, state: TypingState, delay: number, signal: AbortSignal): Promise<Result<null>> {
    const { time, atOnce, write } = this.#input;
    this.end(chatId);
    if (state === 'paused' || delay <= 0) return write(chatId, state, signal);
    if (this.#shown.size >= atOnce)
      return refuse('limited', `typing is kept up in ${atOnce} chats already`, { retryAfter: renewEvery / 1000 });
    const shown: Shown = { state, until: time.now() + delay, timer: null };
    // Before it is written: a message that is sent meanwhile ends it.
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

  /** A message to this chat is being sent, which ends the typing on the other side by itself. */
  end(chatId: string): void {
    const shown = this.#shown.get(chatId);
    if (shown) this.#drop(chatId, shown);
  }

  /** The session is gone. */
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
    const left = shown.until - this.#input.time.now();
    shown.timer = this.#input.time.setTimeout(() => void this.#renew(chatId, shown), Math.max(0, Math.min(left, renewEvery)));
  }

  async #renew(chatId: string, shown: Shown): Promise<void> {
    if (this.#input.time.now() >= shown.until - early) {
      this.#drop(chatId, shown);
      await this.#input.write(chatId, 'paused');
      return;
    }
    const written = await this.#input.write(chatId, shown.state);
    if (written.ok) this.#wait(chatId, shown);
    else this.#drop(chatId, shown);
  }
}
