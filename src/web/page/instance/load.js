/** Something that is asked for when a part of the page opens, and again when it changed. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useCallback, useEffect } from 'preact/hooks';
import { Failed, Loading } from '../ui/parts.js';

/**
 * @template T
 * @param {() => Promise<T>} ask
 * @param {readonly unknown[]} on Asked again when one of these changes.
 */
export const useAnswer = (ask, on) => {
  const answer = useSignal(/** @type {T | null} */ (null));
  const failure = useSignal(/** @type {unknown} */ (null));
  const load = useCallback(async () => {
    try {
      answer.value = await ask();
      failure.value = null;
    } catch (error) {
      failure.value = error;
    }
  }, on);
  useEffect(() => void load(), [load]);
  /** What stands in its place until it is there; null afterwards. */
  const instead =
    failure.value !== null
      ? html`<${Failed} error=${failure.value} onRetry=${load} />`
      : answer.value === null
        ? html`<${Loading} />`
        : null;
  return { answer, load, instead };
};
