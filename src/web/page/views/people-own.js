/** The account of the user who is signed in: the password, and one-time codes. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { post } from '../core/api.js';
import { loadSession, session } from '../core/session.js';
import { t } from '../texts.js';
import { toast } from '../ui/asking.js';
import { useForm } from '../ui/forms.js';
import { Button, Field } from '../ui/parts.js';

/** @typedef {{ secret: string, uri: string, picture: string }} Offer */

/**
 * A form whose request ends the session. The page then asks the user to sign in again.
 * @param {{ path: string, body?: object, done: string, submit: string, children?: import('preact').ComponentChildren }} props
 */
const EndingForm = ({ path, body = {}, done, submit, children }) => {
  const { busy, error, onSubmit } = useForm(async (fields) => {
    await post(path, { ...body, ...Object.fromEntries(fields) });
    toast(done);
    await loadSession();
  });
  return html`
    <form class="person-form" onSubmit=${onSubmit}>
      ${children} ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
      <${Button} kind="main" type="submit" busy=${busy}>${submit}<//>
    </form>
  `;
};

/** @param {{ error?: string }} props */
const OwnPasswordField = ({ error = '' }) => html`
  <${Field} label=${t('ownOld')} error=${error} name="password" type="password" required autocomplete="current-password" />
`;

/**
 * The QR code of a new secret, and the form that confirms the secret. `password`: typed for the offer, and sent again to confirm.
 * @param {{ offer: Offer, password: string }} props
 */
const Offered = ({ offer: { secret, picture }, password }) => html`
  <p>${t('codeScan')}</p>
  <img class="code-picture" src=${picture} alt=${t('codePicture')} width="200" height="200" />
  <p class="note">${t('codeSecret')}: <code>${secret}</code></p>
  <${EndingForm} path="/admin/me/code/confirm" body=${{ secret, password }} done=${t('codeConfirmed')} submit=${t('codeConfirm')}>
    <${Field} label=${t('signInCode')} name="code" inputmode="numeric" required maxlength="7" autofocus autocomplete="one-time-code" />
  <//>
`;

const SetUp = () => {
  const [offered, setOffered] = useState(/** @type {{ offer: Offer, password: string } | null} */ (null));
  const { busy, error, onSubmit } = useForm(async (fields) => {
    const password = String(fields.get('password'));
    setOffered({ offer: await post('/admin/me/code', { password }), password });
  });
  if (offered !== null) return html`<${Offered} ...${offered} />`;
  return html`
    <form class="person-form" onSubmit=${onSubmit}>
      <${OwnPasswordField} error=${error} />
      <${Button} type="submit" busy=${busy}>${t('codeBegin')}<//>
    </form>
  `;
};

const Codes = () => {
  const isOn = session.value?.hasCode === true;
  return html`
    <div>
      <h3>${t('codeTitle')}</h3>
      <p class="dim">${t(isOn ? 'codeOn' : 'codeOff')}</p>
      ${
        isOn
          ? html`<${EndingForm} path="/admin/me/code/remove" done=${t('codeRemoved')} submit=${t('codeRemove')}><${OwnPasswordField} /><//>`
          : html`<${SetUp} />`
      }
    </div>
  `;
};

export const OwnAccount = () => {
  const { user = '', role = 'administrator' } = session.value ?? {};
  return html`
    <section class="panel people" aria-labelledby="own-title">
      <h2 id="own-title">${t('ownTitle')}</h2>
      ${
        user === ''
          ? html`<p class="dim">${t('ownToken')}</p>`
          : html`
              <p>${t('ownWho', { name: user, role: t(`role_${role}`) })}</p>
              <div class="own">
                <div>
                  <h3>${t('ownPassword')}</h3>
                  <${EndingForm} path="/admin/me/password" done=${t('ownChanged')} submit=${t('ownChange')}>
                    <${OwnPasswordField} />
                    <${Field}
                      label=${t('ownNew')}
                      hint=${t('ownNewHint')}
                      name="newPassword"
                      type="password"
                      required
                      minlength="12"
                      autocomplete="new-password"
                    />
                  <//>
                </div>
                <${Codes} />
              </div>
            `
      }
    </section>
  `;
};
