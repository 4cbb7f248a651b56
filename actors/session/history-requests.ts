/** Requests of a session for history from its phone, with their outcomes. */
import type { HistoryRequest, HistoryView } from '../views.ts';
import type { Entry, HistoryTransfer } from '../model.ts';
import type { Time } from '../ports.ts';
import { within } from '../waiting.ts';

/** The largest number of remembered requests. */
const most = 100;

/** Adds to a bounded map. The first key is the oldest, because maps keep the order of insertion. */
const put = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.set(key, value);
  if (map.size > most) for (const oldest of map.keys()) return void map.delete(oldest);
};

export class HistoryRequests {
  readonly #requests = new Map<string, HistoryRequest>();
  /** Callbacks that take the answer to a request, by the id that the platform gave the request. */
  readonly #waiting = new Map<string, (transfer: HistoryTransfer | null) => void>();
  /** Answers that arrived before a caller waited for them. */
  readonly #early = new Map<string, HistoryTransfer>();
  #initial: HistoryView['initial'] = { messages: 0, progress: null };

  get view(): HistoryView {
    return { initial: this.#initial, requests: [...this.#requests.values()] };
  }

  get(id: string): HistoryRequest | undefined {
    return this.#requests.get(id);
  }

  /** Begins a request. Returns null if the id is already in use. */
  begin(id: string, chatId: string, at: number): HistoryRequest | null {
    if (this.#requests.has(id)) return null;
    const request: HistoryRequest = { id, chatId, at, state: 'pending', answer: null };
    put(this.#requests, id, request);
    return request;
  }

  /** Forgets a request that was never sent. Its id may be used again. */
  forget(id: string): void {
    this.#requests.delete(id);
  }

  finish(id: string, answer: HistoryTransfer | null): void {
    const request = this.#requests.get(id);
    if (request) this.#requests.set(id, { ...request, state: answer === null ? 'unanswered' : 'answered', answer });
  }

  /** Looks for answers among the recorded entries. */
  note(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.kind !== 'history' || !entry.transfer) continue;
      const { requestId, messages, progress } = entry.transfer;
      const settle = this.#waiting.get(requestId);
      if (requestId === '') this.#initial = { messages: this.#initial.messages + messages, progress };
      else if (settle) settle(entry.transfer);
      else put(this.#early, requestId, entry.transfer);
    }
  }

  /** Resolves with the answer of the phone, or with null after `ms` milliseconds. */
  async answerTo(time: Time, requestId: string, ms: number): Promise<HistoryTransfer | null> {
    const early = this.#early.get(requestId);
    if (early) return early;
    const { promise, resolve } = Promise.withResolvers<HistoryTransfer | null>();
    this.#waiting.set(requestId, resolve);
    const ending = await within(time, ms, promise);
    this.#waiting.delete(requestId);
    return ending === 'done' ? promise : null;
  }

  /** Ends all waits without an answer. */
  stop(): void {
    for (const settle of this.#waiting.values()) settle(null);
  }
}
