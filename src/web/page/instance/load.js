/** Something that is asked for when a part of the page opens, and again when it changed. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { ApiError, isPassing, isUnanswered } from '../core/api.js';
import { whenBack } from '../core/contact.js';
import { Failed, Loading } from '../ui/parts.js';

/** Pause before a server that is not ready is asked again, unless it names one. In milliseconds. */
const retryMs = 5_000;

/** @param {unknown} error */
const pauseOf = (error) => (error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1_000 : retryMs);

/**
 * Asks when the part opens. While the server is away the last answer stays, below the banner of the shell, and the part asks again when it is back.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {readonly unknown[]} on Asked again when one of these changes.
 */
export const useAnswer = (ask, on) => {
  const answer = useSignal(/** @type {T | null} */ (null));
  const failure = useSignal(/** @type {unknown} */ (null));
  const asked = useRef(0);
  /** @type {{ current: ReturnType<typeof setTimeout> | undefined }} */
  const retry = useRef(undefined);
  /** The question that the answer belongs to. @type {{ current: unknown }} */
  const answered = useRef(null);
  /** `isAgain`: the page asks by itself, and a form on it may hold what somebody typed. */
  const askFor = useCallback(async (/** @type {boolean} */ isAgain) => {
    clearTimeout(retry.current);
    const own = (asked.current += 1);
    /** A later request, with another question perhaps, may have been answered first. */
    const isNewest = () => own === asked.current;
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
    }
  }, on);
  const load = useCallback(() => askFor(false), [askFor]);
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
  return { answer, load, instead };
};

/**
 * Loads again at a steady pace while the page is in sight.
 * @param {() => Promise<void>} load
 * @param {number} ms
 */
export const useRefresh = (load, ms) =>
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void load(), ms);
    return () => clearInterval(timer);
  }, [load, ms]);
