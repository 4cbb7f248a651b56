/** A field for an API key. The server never sends a stored key to the page. */
import { html } from 'htm/preact';
import { t } from '../texts.js';
import { Check } from '../ui/forms.js';
import { Field } from '../ui/parts.js';

/** @param {{ label: string, hint: string, name: string, hasKey: boolean, error?: string }} props */
export const KeyField = ({ label, hint, name, hasKey, error }) => html`
  <${Field}
    label=${label}
    hint=${hasKey ? t('keyStored') : hint}
    error=${error}
    name=${name}
    type="password"
    maxlength="500"
    autocomplete="new-password"
    spellcheck=${false}
  />
  ${hasKey && html`<${Check} name=${`${name}-remove`} label=${t('keyRemove')} checked=${false} />`}
`;

/**
 * Returns the field of the request: a new key, or '' to remove the stored key. Returns no field if the stored key stays unchanged.
 * @param {FormData} form
 * @param {string} name
 * @returns {Record<string, string>}
 */
export const keyIn = (form, name) => {
  const key = String(form.get(name) ?? '').trim();
  if (key !== '') return { [name]: key };
  return form.has(`${name}-remove`) ? { [name]: '' } : {};
};

/** Clears the field of a saved key, and the checkbox that removes the key. @param {HTMLFormElement} form @param {string} name */
export const forgetKey = (form, name) => {
  for (const field of [name, `${name}-remove`]) {
    const input = form.elements.namedItem(field);
    if (input instanceof HTMLInputElement) [input.value, input.checked] = [field === name ? '' : 'on', false];
  }
};
