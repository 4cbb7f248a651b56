/** Asks for the admin token, once; a cookie stands for it afterwards. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../core/api.js';
import { expired, session, signIn } from '../core/session.js';
import { t } from '../texts.js';
import { Button, Field } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

/** @param {unknown} error */
const sentenceOf = (error) => {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 429) return t('signInTooMany', { n: error.retryAfter ?? 60 });
  return error.status === 401 || error.status === 403 ? t('signInWrong') : error.message;
};

const Form = () => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  /** @param {SubmitEvent} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const token = String(new FormData(form).get('token')).trim();
    setBusy(true);
    setError('');
    await signIn(token).catch((problem) => {
      setError(sentenceOf(problem));
      setBusy(false);
      form.querySelector('input')?.select();
    });
  };
  return html`
    <form class="panel" onSubmit=${onSubmit}>
      <h1>${t('signInTitle')}</h1>
      ${expired.value && html`<p role="status">${t('signInExpired')}</p>`}
      <${Field}
        label=${t('signInToken')}
        hint=${t('signInLead')}
        error=${error}
        name="token"
        type="password"
        required
        autofocus
        autocomplete="current-password"
        spellcheck="false"
      />
      <${Button} kind="main" type="submit" busy=${busy}>${t('signInSubmit')}<//>
    </form>
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
          : html`<${Form} />`
      }
    </div>
  <//>
`;
