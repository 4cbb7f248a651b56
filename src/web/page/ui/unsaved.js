/**
 * Asks before a begun form is left by a link, by the browser's Back, by Escape or a press beside its box, or with the page. All forms are
 * watched, except those with `data-unguarded`, which keep their text elsewhere or hold none worth a question. Nothing that was typed is kept here.
 */
import { guardPlace } from '../core/router.js';
import { t } from '../texts.js';
import { ask } from './asking.js';
import { guardBoxes } from './parts.js';

/** Forms that were changed and not sent since. @type {Set<HTMLFormElement>} */
const touched = new Set();

/** Returns true if a field differs from what it was drawn with. @param {Element} field */
const differs = (field) => {
  if (field instanceof HTMLInputElement && ['checkbox', 'radio'].includes(field.type)) return field.checked !== field.defaultChecked;
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  // Views choose the option of a list by its property, so its first state is not known.
  return field instanceof HTMLSelectElement;
};

/** Forgets forms that are no longer shown, and returns those that are begun. */
const begun = () => {
  for (const form of touched) if (!form.isConnected) touched.delete(form);
  return [...touched].filter((form) => [...form.elements].some((field) => differs(field)));
};
const isBegun = () => begun().length > 0;

/** Notes that the content of a form was sent: leaving loses nothing. @param {HTMLFormElement} form */
export const saved = (form) => void touched.delete(form);

/** @param {BeforeUnloadEvent} event */
const onUnload = (event) => {
  if (isBegun()) event.preventDefault();
};

/** @param {Event} event */
const onInput = ({ target }) => {
  const form = target instanceof HTMLElement ? target.closest('form') : null;
  if (form === null || form.hasAttribute('data-unguarded')) return;
  touched.add(form);
  // Browsers keep a page with this listener out of their cache, so it is there only while it is needed.
  addEventListener('beforeunload', onUnload);
};

const askToLeave = () => ask({ title: t('leaveTitle'), text: t('leaveText'), yes: t('leaveYes'), danger: true });

/** Watches the forms from now on. */
export const guardForms = () => {
  document.addEventListener('input', onInput);
  document.addEventListener('reset', ({ target }) => saved(/** @type {HTMLFormElement} */ (target)));
  guardPlace({ isNeeded: isBegun, ask: askToLeave });
  guardBoxes({
    isNeeded: (box) => begun().some((form) => box.contains(form)),
    async ask(box) {
      const isLeft = await askToLeave();
      // A box with an address of its own leaves that address next, which asks no second time.
      if (isLeft) for (const form of begun()) if (box.contains(form)) saved(form);
      return isLeft;
    },
  });
};
