/** Work with an end: a time limit, a caller who may go away, and a server that may stop. */
import type { Result } from '#actors/model.ts';
import { deadline } from '#src/webhooks/client.ts';
import { MediaFailure, resultOf } from './media-failure.ts';

export class BoundedWork {
  readonly #timeoutMs: number;
  readonly #late: () => MediaFailure;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /** `late`: what to answer when the time is over. */
  constructor(timeoutMs: number, late: () => MediaFailure) {
    this.#timeoutMs = timeoutMs;
    this.#late = late;
  }

  /** A `MediaFailure` of the work is a refusal, an abort is one as well; other errors reject. */
  run<T>(work: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<Result<T>> {
    const { signal: late, clear } = deadline(this.#timeoutMs);
    const signal = AbortSignal.any([late, this.#closing.signal, ...(given ? [given] : [])]);
    const cut = (error: unknown): never => {
      if (error instanceof MediaFailure || !signal.aborted) throw error;
      if (this.#closing.signal.aborted) throw new MediaFailure('unavailable', 'the server is stopping');
      if (given?.aborted) throw new MediaFailure('unavailable', 'the file was not waited for any longer');
      throw this.#late();
    };
    const working = (signal.aborted ? Promise.reject(signal.reason) : work(signal)).catch(cut).finally(clear);
    this.#underWay.add(working);
    void working.catch(() => undefined).finally(() => this.#underWay.delete(working));
    return resultOf(working);
  }

  /** Aborts everything, refuses what comes, and resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#underWay);
  }
}
