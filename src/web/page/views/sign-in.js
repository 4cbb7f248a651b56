/** Asks for the admin token, or for a name and a password. The server then sets a cookie. The page does not store the token or the password. */
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, textOfFailure } from '../core/api.js';
import { expired, session, signIn, signInAs } from '../core/session.js';
import { t } from '../texts.js';
import { Button, Field } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

/** @typedef {'token' | 'name'} Way */

/** The key of the local storage for the way of the last sign-in: with the token or with a name. */
const wayKey = 'signIn';

/** @returns {Way} */
const lastWay = () => {
  try {
    return localStorage.getItem(wayKey) === 'name' ? 'name' : 'token';
  } catch {
    // Storage is forbidden in some private windows.
    return 'token';
  }
};

/** @param {Way} way */
const keepWay = (way) => {
  try {
    localStorage.setItem(wayKey, way);
  } catch {
    // Storage is forbidden. The next sign-in begins with the token.
  }
};

/** @param {unknown} error @param {Way} way */
const sentenceOf = (error, way) => {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 429) return t(way === 'token' ? 'signInTooMany' : 'signInTooManyGuesses', { n: error.retryAfter ?? 60 });
  return way === 'token' && (error.status === 401 || error.status === 403) ? t('signInWrong') : textOfFailure(error);
};

/** @param {{ error: string }} props */
const TokenFields = ({ error }) => html`
  <${Field}
    label=${t('signInToken')}
    hint=${t('signInLead')}
    error=${error}
    name="token"
    type="password"
    required
    autofocus
    autocomplete="current-password"
    spellcheck=${false}
  />
`;

/** @param {{ error: string }} props */
const NameFields = ({ error }) => html`
  <${Field}
    label=${t('signInName')}
    hint=${t('signInNameLead')}
    name="name"
    required
    autofocus
    maxlength="64"
    autocomplete="username"
    autocapitalize="none"
    spellcheck=${false}
  />
  <${Field} label=${t('signInPassword')} error=${error} name="password" type="password" required autocomplete="current-password" />
  <${Field}
    label=${t('signInCode')}
    hint=${t('signInCodeHint')}
    name="code"
    inputmode="numeric"
    maxlength="7"
    autocomplete="one-time-code"
  />
`;

/** @param {{ way: Way, onOther: () => void }} props */
const Form = ({ way, onOther }) => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  /** @param {SubmitEvent} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const fields = new FormData(form);
    /** @param {string} name */
    const text = (name) => String(fields.get(name) ?? '');
    setBusy(true);
    setError('');
    const signedIn =
      way === 'token'
        ? signIn(text('token').trim())
        : signInAs({ name: text('name').trim(), password: text('password'), code: text('code').trim() });
    await signedIn
      .then(() => keepWay(way))
      .catch((problem) => {
        setError(sentenceOf(problem, way));
        setBusy(false);
        /** @type {HTMLInputElement | null} */ (form.querySelector('input[type=password]'))?.select();
      });
  };
  return html`
    <form class="panel" data-unguarded onSubmit=${onSubmit}>
      <h1>${t('signInTitle')}</h1>
      ${expired.value && html`<p role="status">${t('signInExpired')}</p>`}
      ${way === 'token' ? html`<${TokenFields} error=${error} />` : html`<${NameFields} error=${error} />`}
      <${Button} kind="main" type="submit" busy=${busy}>${t('signInSubmit')}<//>
      <${Button} kind="quiet other-way" onClick=${onOther}>${t(way === 'token' ? 'signInByName' : 'signInByToken')}<//>
    </form>
  `;
};

const Ways = () => {
  const [way, setWay] = useState(lastWay);
  return html`<${Form} key=${way} way=${way} onOther=${() => setWay(way === 'token' ? 'name' : 'token')} />`;
};

/** The sign-in in a box over a view that stays. The box covers the view and cannot be closed. */
export const SignInAgain = () => {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const show = () => box.current?.showModal();
  useEffect(() => {
    const before = document.activeElement;
    show();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return html`
    <dialog ref=${box} class="box cover" aria-label=${t('signInTitle')} onClose=${show}>
      <div class="card-page"><${Ways} /></div>
    </dialog>
  `;
};

export const SignIn = () => html`
  <${Shell} title=${t('signInTitle')}>
    <div class="card-page">
      ${
        session.value?.demo === true
          ? html`<div class="panel">
              <h1>${t('signInTitle')}</h1>
              <p>${t('signInDemo')}</p>
            </div>`
          : html`<${Ways} />`
      }
    </div>
  <//>
`;
