/**
 * Asks before a reader leaves a changed form: by a link, by the browser's Back, by Escape, by a press beside its box, or by closing the page. All forms are
 * watched, except those with `data-unguarded`, which store their text elsewhere or have little text. This module stores no text of a form.
 */
import { guardLeaving } from '../core/router.js';
import { t } from '../texts.js';
import { ask } from './asking.js';
import { guardBoxes } from './parts.js';

/** Forms that were changed and not sent since. @type {Set<HTMLFormElement>} */
const touched = new Set();

/** Returns true if a field differs from its first value. @param {Element} field */
const differs = (field) => {
  if (field instanceof HTMLInputElement && ['checkbox', 'radio'].includes(field.type)) return field.checked !== field.defaultChecked;
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  // Views select the option of a list by its property, so the first option is unknown. A touched list counts as changed.
  return field instanceof HTMLSelectElement;
};

/** Removes forms that are no longer shown from `touched`, and returns the forms with changes. */
const begun = () => {
  for (const form of touched) if (!form.isConnected) touched.delete(form);
  return [...touched].filter((form) => [...form.elements].some((field) => differs(field)));
};
const isBegun = () => begun().length > 0;

/** Notes that the content of a form was sent, so that leaving the form loses nothing. @param {HTMLFormElement} form */
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
  // Browsers do not keep a page with this listener in their back/forward cache, so the listener is added only when it is needed.
  addEventListener('beforeunload', onUnload);
};

const askToLeave = () => ask({ title: t('leaveTitle'), text: t('leaveText'), yes: t('leaveYes'), danger: true });

/** Installs the guards. Afterwards the page asks before the reader leaves a changed form. */
export const guardForms = () => {
  document.addEventListener('input', onInput);
  document.addEventListener('reset', ({ target }) => saved(/** @type {HTMLFormElement} */ (target)));
  guardLeaving({ isNeeded: isBegun, ask: askToLeave });
  guardBoxes({
    isNeeded: (box) => begun().some((form) => box.contains(form)),
    async ask(box) {
      const isLeft = await askToLeave();
      // A box with an address of its own changes the address when it closes. The router must not ask a second time.
      if (isLeft) for (const form of begun()) if (box.contains(form)) saved(form);
      return isLeft;
    },
  });
};
