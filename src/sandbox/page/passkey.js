/** The passkey of an account. The view adds and removes it, shows the stage of linking, and signs like the owner's browser. */
import { get, post, remove } from './api.js';
import { ask, attempt, el } from './dom.js';

/** Behaviours of the platform and the phone during linking: the value of `fault`, and its label. */
export const passkeyFaults = [
  ['', 'as usual'],
  ['refuse', 'refuses every assertion'],
  ['bare', 'does not say what to sign'],
  ['stall', 'the phone never answers'],
  ['twice', 'the phone answers twice'],
];

const actions = [
  ['give', 'Give the account a passkey'],
  ['sign', 'Sign what is written below'],
  ['take', 'Take the passkey away'],
];

/** Returns the title of the dialog: whether the account has a passkey, and the stage of linking. */
const titleOf = (number, { id, stage, code }) => {
  if (id === undefined) return `${number} has no passkey`;
  if (stage === null) return `${number} has a passkey`;
  return code ? `Passkey of ${number}: ${stage}, the phone shows ${code}` : `Passkey of ${number}: ${stage}`;
};

const show = (assertion) => {
  const dialog = el(
    'dialog',
    { 'aria-label': 'Assertion', onclose: () => dialog.remove() },
    el('h2', {}, 'Assertion'),
    el('textarea', { rows: 10, readOnly: true, value: JSON.stringify(assertion), 'aria-label': 'Assertion to copy' }),
    el('div', { class: 'bar end' }, el('button', { type: 'button', onclick: () => dialog.close() }, 'Close')),
  );
  document.body.append(dialog);
  dialog.showModal();
};

const parsed = (text = '') => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the options are not JSON');
  }
};

export const editPasskey = async (number) => {
  const path = `/phones/${number}/passkey`;
  const seen = await get(path).catch(() => ({}));
  const values = await ask(titleOf(number, seen), [
    { name: 'action', label: 'What to do', type: 'select', options: actions },
    { name: 'fault', label: 'The platform', type: 'select', options: passkeyFaults },
    { name: 'options', label: 'Options to sign, of GET /instance/passkey', type: 'textarea', required: false },
  ]);
  if (values?.action === 'give') await attempt(() => post(path, values.fault ? { fault: values.fault } : {}), 'the account is linked only with its passkey');
  if (values?.action === 'take') await attempt(() => remove(path), 'the passkey is gone');
  if (values?.action === 'sign') await attempt(async () => show(await post(`${path}/assertion`, { options: parsed(values.options) })));
};

/** Asks for the number of an account that is not linked yet, then for the action on its passkey. */
export const newPasskey = async () => {
  const values = await ask('Passkey of an account', [{ name: 'number', label: 'Number', inputMode: 'numeric', required: true }], 'Next');
  if (values) await editPasskey(values.number.trim());
};
