/** The state of forms that send one request. */
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { isPassing, textOfFailure } from '../core/api.js';
import { whenBack } from '../core/contact.js';
import { saved } from './unsaved.js';

/**
 * Stores a failure and returns its text; '' without a failure. A temporary failure is removed when the server answers again.
 */
export const useFailure = () => {
  const [failure, setFailure] = useState(/** @type {unknown} */ (null));
  useEffect(() => (isPassing(failure) ? whenBack(() => setFailure(null)) : undefined), [failure]);
  return { error: failure === null ? '' : textOfFailure(failure), setFailure };
};

/**
 * Handles the submission of a form. `send` gets the fields of the form, and resolves with false if it sent nothing. `busy` is true until `send` has
 * ended. `error` is the text of a failure until the form is changed.
 * @param {(fields: FormData, form: HTMLFormElement) => Promise<void | false>} send
 */
export const useForm = (send) => {
  const [busy, setBusy] = useState(false);
  const { error, setFailure } = useFailure();
  /** @param {SubmitEvent} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    setBusy(true);
    setFailure(null);
    try {
      if ((await send(new FormData(form), form)) !== false) saved(form);
    } catch (problem) {
      setFailure(problem);
      form.addEventListener('input', () => setFailure(null), { once: true });
    }
    setBusy(false);
  };
  return { busy, error, onSubmit };
};

/**
 * A checkbox with its label.
 * @param {{ name: string, label: string, checked: boolean, value?: string }} props
 */
export const Check = ({ name, label, checked, value = 'on' }) =>
  html`<label class="check"><input type="checkbox" name=${name} value=${value} defaultChecked=${checked} /><span>${label}</span></label>`;
