/**
 * One POST of whose answer only the status counts. It listens to the dispatcher itself: the streams and signals of a usual request would cost a delivery
 * as much again.
 */
import type { Dispatcher } from 'undici';
import type { Cuts } from '#actors/ports.ts';

export interface Answer {
  readonly status: number;
  readonly retryAfter: string;
}

export interface PostOptions {
  readonly origin: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds from the call to the end of the answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer that are read, so that its connection can be used again. */
  readonly most: number;
  readonly cuts?: Cuts;
}

/** The time is over. It has the code of every other time-out, so that it is reported like one. */
const late = (): Error => Object.assign(new Error('no answer in time'), { code: 'UND_ERR_ABORTED' });

class Listener implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #cuts: Cuts | undefined;
  readonly #cutNow = (): void => this.#cut(late());
  #controller: Dispatcher.DispatchController | null = null;
  #answer: Answer | null = null;
  #left: number;
  #over = false;

  constructor({ timeoutMs, most, cuts }: PostOptions, resolve: (answer: Answer) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#left = most;
    this.#timer = setTimeout(this.#cutNow, timeoutMs);
    this.#cuts = cuts?.add(this.#cutNow);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for a connection until nobody waited for it any more.
    if (this.#over) controller.abort(late());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Readonly<Record<string, unknown>>): void {
    if (status < 200) return; // an announcement of the answer to come
    const asked = headers['retry-after'];
    this.#answer = { status, retryAfter: typeof asked === 'string' ? asked : '' };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#left -= chunk.length;
    if (this.#left < 0) this.#cut(late());
  }

  onResponseEnd(): void {
    if (this.#answer) this.#end(this.#answer);
    else this.fail(late());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends it: with the status when that was said, else with the error. */
  fail(error: unknown): void {
    if (this.#over) return;
    if (this.#answer) return this.#end(this.#answer);
    this.#finish();
    this.#reject(error);
  }

  #end(answer: Answer): void {
    this.#finish();
    this.#resolve(answer);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#cuts?.delete(this.#cutNow);
  }

  #cut(error: Error): void {
    this.fail(error);
    this.#controller?.abort(error);
  }
}

/** Rejects when there was no status: the error has the code of undici or of the system. */
export const post = (dispatcher: Dispatcher, options: PostOptions): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const listener = new Listener(options, resolve, reject);
    const { origin, path, body, headers } = options;
    try {
      dispatcher.dispatch({ origin, path, body, headers, method: 'POST' }, listener);
    } catch (error) {
      listener.fail(error);
    }
  });
