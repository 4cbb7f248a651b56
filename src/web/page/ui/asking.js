/** Short notices, and questions before actions that cannot be undone. `Asking` shows both. Any module may call `toast` and `ask`. */
import { computed, signal } from '@preact/signals';
import { html } from 'htm/preact';
import { textOfFailure } from '../core/api.js';
import { t } from '../texts.js';
import { Button, Dialog } from './parts.js';

/** The time for which a notice is shown. An error takes longer to read. In milliseconds. */
const shownMs = { good: 4_000, bad: 10_000 };

/** @typedef {{ id: number, text: string, kind: 'good' | 'bad' }} Notice */
const notices = signal(/** @type {readonly Notice[]} */ ([]));
let last = 0;

/** @param {number} id */
const dismiss = (id) => {
  notices.value = notices.value.filter((one) => one.id !== id);
};

/**
 * Shows a notice for some seconds.
 * @param {string} text
 * @param {'good' | 'bad'} [kind]
 */
export const toast = (text, kind = 'good') => {
  const id = (last += 1);
  notices.value = [...notices.value.slice(-3), { id, text, kind }];
  setTimeout(() => dismiss(id), shownMs[kind]);
};

/**
 * Runs the work, and shows the reason if it fails. Resolves with the value of the work; undefined after a failure.
 * @template T
 * @param {() => Promise<T>} work
 * @param {string} [done] The notice after success.
 * @returns {Promise<T | undefined>}
 */
export const attempt = async (work, done) => {
  try {
    const value = await work();
    if (done !== undefined) toast(done);
    return value;
  } catch (error) {
    toast(textOfFailure(error), 'bad');
    return undefined;
  }
};

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {string} text The effects of the action.
 * @property {readonly string[]} [cautions] Consequences that the reader may not expect.
 * @property {string} yes The label of the button that agrees, such as "Delete".
 * @property {boolean} [danger]
 */
const asked = signal(/** @type {(Question & { answer: (yes: boolean) => void }) | null} */ (null));

/** True while a question waits for its answer. */
export const isAsking = computed(() => asked.value !== null);

/**
 * Asks before an action. Resolves with true if the reader agrees.
 * @param {Question} question
 * @returns {Promise<boolean>}
 */
export const ask = (question) =>
  new Promise((resolve) => {
    asked.value?.answer(false);
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });

/** Withdraws a waiting question, as if the reader had answered no. */
export const unask = () => asked.peek()?.answer(false);

export const Asking = () => {
  const question = asked.value;
  return html`
    ${
      question !== null &&
      html`
        <${Dialog} title=${question.title} onClose=${() => question.answer(false)}>
          <p>${question.text}</p>
          ${question.cautions?.map((caution) => html`<p key=${caution} class="caution">${caution}</p>`)}
          <div class="actions">
            <${Button} onClick=${() => question.answer(false)}>${t('cancel')}<//>
            <${Button} kind=${question.danger ? 'danger main' : 'main'} onClick=${() => question.answer(true)}>${question.yes}<//>
          </div>
        <//>
      `
    }
    <div class="toasts" role="status" aria-live="polite">
      ${notices.value.map(
        ({ id, text, kind }) => html`
          <div key=${id} class=${`toast of-${kind === 'good' ? 'connected' : 'person'}`}>
            <p>${text}</p>
            <${Button} kind="quiet square" icon="close" aria-label=${t('dismiss')} onClick=${() => dismiss(id)} />
          </div>
        `,
      )}
    </div>
  `;
};
