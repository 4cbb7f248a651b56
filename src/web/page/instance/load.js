/** Loads data when a part of the page opens, and again when the data changed. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { ApiError, isPassing, isUnanswered, patienceMs } from '../core/api.js';
import { whenBack } from '../core/contact.js';
import { session } from '../core/session.js';
import { Failed, Loading } from '../ui/parts.js';

/** The pause before a retry if the server is not ready and names no pause. In milliseconds. */
const retryMs = 5_000;

/** @param {unknown} error */
const pauseOf = (error) => (error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1_000 : retryMs);

/**
 * Sends a request when a part of the page opens, and stores the answer. While the server does not answer, the part shows the last answer. The part
 * sends the request again when the contact with the server is back.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {readonly unknown[]} on If one of these values changes, the part sends the request again.
 */
export const useAnswer = (ask, on) => {
  const answer = useSignal(/** @type {T | null} */ (null));
  const failure = useSignal(/** @type {unknown} */ (null));
  const asked = useRef(0);
  /** The start of the request under way; 0 if there is none. In Unix milliseconds. */
  const startedAt = useRef(0);
  /** @type {{ current: ReturnType<typeof setTimeout> | undefined }} */
  const retry = useRef(undefined);
  /** The version of `askFor` that got the shown answer. `askFor` changes with the values in `on`. @type {{ current: unknown }} */
  const answered = useRef(null);
  /** `isAgain`: the page repeats the request by itself. A form in the part may then contain text that the reader typed. */
  const askFor = useCallback(async (/** @type {boolean} */ isAgain) => {
    clearTimeout(retry.current);
    const own = (asked.current += 1);
    /** False if a later request was sent. The answer to the later request may have arrived first. */
    const isNewest = () => own === asked.current;
    startedAt.current = Date.now();
    try {
      const given = await ask();
      if (!isNewest()) return;
      answered.current = askFor;
      answer.value = given;
      failure.value = null;
    } catch (error) {
      if (!isNewest()) return;
      if (isPassing(error)) retry.current = setTimeout(askFor, pauseOf(error), true);
      const isKept = answered.current === askFor && (isAgain ? isPassing(error) : isUnanswered(error));
      if (!isKept) failure.value = error;
    } finally {
      if (isNewest()) startedAt.current = 0;
    }
  }, on);
  const load = useCallback(() => askFor(false), [askFor]);
  /** Repeats the request, unless one is under way. A request that is older than every time-out does not count as under way. */
  const refresh = useCallback(async () => {
    if (Date.now() - startedAt.current >= patienceMs) await askFor(true);
  }, [askFor]);
  useEffect(() => {
    void load();
    const stop = whenBack(() => void askFor(true));
    return () => {
      stop();
      clearTimeout(retry.current);
      asked.current += 1;
    };
  }, [load]);
  /** The placeholder until the content is loaded; null afterwards. */
  const instead =
    failure.value !== null
      ? html`<${Failed} error=${failure.value} onRetry=${load} />`
      : answer.value === null
        ? html`<${Loading} />`
        : null;
  return { answer, load, refresh, instead };
};

/**
 * Calls `refresh` of `useAnswer` every `ms` milliseconds while the page is visible.
 * @param {() => Promise<void>} refresh
 * @param {number} ms
 */
export const useRefresh = (refresh, ms) =>
  useEffect(() => {
    // While requests are held until the reader signs in again, each refresh would add one more held request.
    const timer = setInterval(() => !document.hidden && session.peek()?.signedIn !== false && void refresh(), ms);
    return () => clearInterval(timer);
  }, [refresh, ms]);
