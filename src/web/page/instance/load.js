/** Something that is asked for when a part of the page opens, and again when it changed. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { Failed, Loading } from '../ui/parts.js';

/**
 * @template T
 * @param {() => Promise<T>} ask
 * @param {readonly unknown[]} on Asked again when one of these changes.
 */
export const useAnswer = (ask, on) => {
  const answer = useSignal(/** @type {T | null} */ (null));
  const failure = useSignal(/** @type {unknown} */ (null));
  const asked = useRef(0);
  const load = useCallback(async () => {
    const own = (asked.current += 1);
    /** A later request, with another question perhaps, may have been answered first. */
    const isNewest = () => own === asked.current;
    try {
      const given = await ask();
      if (!isNewest()) return;
      answer.value = given;
      failure.value = null;
    } catch (error) {
      if (isNewest()) failure.value = error;
    }
  }, on);
  useEffect(() => void load(), [load]);
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
