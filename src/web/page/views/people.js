/** The people who operate the gateway: the account of the user who is signed in, all users with their roles, and open sessions of the dashboard. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { loadSession, may, roles } from '../core/session.js';
import { useAnswer } from '../instance/load.js';
import { moment, t } from '../texts.js';
import { ask, attempt, toast } from '../ui/asking.js';
import { Check, useForm } from '../ui/forms.js';
import { Button, Dialog, Field, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { OwnAccount } from './people-own.js';

/** @import { Role } from '../core/session.js' */

/**
 * @typedef {object} User One of `GET /admin/users`; times in Unix milliseconds.
 * @property {string} id
 * @property {string} name
 * @property {Role} role
 * @property {boolean} hasCode
 * @property {number} lastSignInAt 0 before the first sign-in.
 */

/**
 * @typedef {object} SignedIn One of `GET /admin/sessions`; times in Unix milliseconds.
 * @property {string} id
 * @property {string} user '' for the admin token.
 * @property {Role} role
 * @property {string} address
 * @property {number} since
 * @property {number} until
 * @property {boolean} own
 */

/** Loads the list and the sign-in again. The change may have ended the sign-in of this page. @param {() => Promise<void>} load */
const reload = async (load) => {
  await load();
  await loadSession().catch(() => undefined);
};

/** @param {{ user: User, onDone: () => Promise<void>, onClose: () => void }} props */
const ResetDialog = ({ user: { id, name, hasCode }, onDone, onClose }) => {
  const { busy, error, onSubmit } = useForm(async (form) => {
    await post('/admin/users/update', { id, password: String(form.get('password')), resetCode: form.get('resetCode') === 'on' });
    onClose();
    await onDone();
  });
  return html`
    <${Dialog} title=${t('userResetOf', { name })} onClose=${onClose}>
      <form class="person-form" onSubmit=${onSubmit}>
        <p>${t('userResetText', { name })}</p>
        <${Field} label=${t('ownNew')} error=${error} name="password" type="password" required minlength="12" autocomplete="new-password" />
        ${hasCode && html`<${Check} name="resetCode" label=${t('userResetCode')} checked=${false} />`}
        <div class="actions"><${Button} kind="main" type="submit" busy=${busy}>${t('userReset')}<//></div>
      </form>
    <//>
  `;
};

/** @param {{ user: User, onChange: () => Promise<void> }} props */
const UserRow = ({ user, onChange }) => {
  const [resetting, setResetting] = useState(false);
  const { id, name, role, hasCode, lastSignInAt } = user;
  /** @param {Event} event */
  const onRole = async (event) => {
    const wanted = /** @type {HTMLSelectElement} */ (event.target).value;
    await attempt(() => post('/admin/users/update', { id, role: wanted }), t('userChanged', { name }));
    await onChange();
  };
  const remove = async () => {
    if (!(await ask({ title: t('userDeleteOf', { name }), text: t('userDeleteText', { name }), yes: t('userDelete'), danger: true })))
      return;
    await attempt(() => post('/admin/users/delete', { id }), t('userDeleted', { name }));
    await onChange();
  };
  return html`
    <tr>
      <th scope="row">${name}</th>
      <td>
        <select class="input" aria-label=${t('userRoleOf', { name })} value=${role} onChange=${onRole}>
          ${roles.map((one) => html`<option key=${one} value=${one}>${t(`role_${one}`)}</option>`)}
        </select>
      </td>
      <td data-head=${t('userCode')}>${t(hasCode ? 'userCode_on' : 'userCode_off')}</td>
      <td data-head=${t('userLast')}>${lastSignInAt === 0 ? t('userNever') : moment(lastSignInAt)}</td>
      <td>
        <${Button} onClick=${() => setResetting(true)} aria-label=${t('userResetOf', { name })}>${t('userReset')}<//>
        ${' '}
        <${Button} kind="danger" onClick=${remove} aria-label=${t('userDeleteOf', { name })}>${t('userDelete')}<//>
        ${resetting && html`<${ResetDialog} user=${user} onDone=${onChange} onClose=${() => setResetting(false)} />`}
      </td>
    </tr>
  `;
};

/** @param {{ onAdded: () => Promise<void> }} props */
const AddForm = ({ onAdded }) => {
  const { busy, error, onSubmit } = useForm(async (fields, form) => {
    const { name } = /** @type {User} */ (await post('/admin/users', Object.fromEntries(fields)));
    toast(t('userAdded', { name }));
    form.reset();
    await onAdded();
  });
  return html`
    <form class="person-form" onSubmit=${onSubmit}>
      <${Field}
        label=${t('userName')}
        hint=${t('userNameHint')}
        error=${error}
        name="name"
        required
        autocomplete="off"
        spellcheck=${false}
      />
      <${Field} as="select" label=${t('userRole')} hint=${t('roleHint')} name="role">
        ${roles.map((one) => html`<option key=${one} value=${one}>${t(`role_${one}`)}</option>`)}
      <//>
      <${Field}
        label=${t('userPassword')}
        hint=${t('userPasswordHint')}
        name="password"
        type="password"
        required
        minlength="12"
        autocomplete="new-password"
      />
      <${Button} kind="main" type="submit" busy=${busy}>${t('userAdd')}<//>
    </form>
  `;
};

const Users = () => {
  const { answer, load, instead } = useAnswer(() => /** @type {Promise<{ users: readonly User[] }>} */ (get('/admin/users')), []);
  const users = answer.value?.users ?? [];
  const heads = [t('userName'), t('userRole'), t('userCode'), t('userLast'), t('userActs')];
  return html`
    <section class="panel people" aria-labelledby="users-title">
      <h2 id="users-title">${t('users')}</h2>
      ${
        instead ??
        (users.length === 0
          ? html`<p class="dim">${t('usersNone')}</p>`
          : html`<${Table} label=${t('users')} heads=${heads} stack>
              ${users.map((user) => html`<${UserRow} key=${user.id} user=${user} onChange=${() => reload(load)} />`)}
            <//>`)
      }
      <h3>${t('userAdd')}</h3>
      <${AddForm} onAdded=${load} />
    </section>
  `;
};

/** @param {{ signedIn: SignedIn, onEnded: () => Promise<void> }} props */
const SignInRow = ({ signedIn: { id, user, role, address, since, until, own }, onEnded }) => {
  const name = user === '' ? t('signInAdmin') : user;
  const end = async () => {
    await attempt(() => post('/admin/sessions/end', { id }), t('signInEnded'));
    await onEnded();
  };
  return html`
    <tr>
      <th scope="row">${name}${own && html` <span class="dim">(${t('signInOwn')})</span>`}</th>
      <td>${t(`role_${role}`)}</td>
      <td data-head=${t('signInFrom')}>${address}</td>
      <td data-head=${t('signInSince')}>${since === 0 ? '' : moment(since)}</td>
      <td data-head=${t('signInUntil')}>${moment(until)}</td>
      <td><${Button} onClick=${end} aria-label=${t('signInEndOf', { name, address })}>${t('signInEnd')}<//></td>
    </tr>
  `;
};

const SignIns = () => {
  const { answer, load, instead } = useAnswer(() => /** @type {Promise<{ sessions: readonly SignedIn[] }>} */ (get('/admin/sessions')), []);
  const heads = [t('signInUser'), t('userRole'), t('signInFrom'), t('signInSince'), t('signInUntil'), t('userActs')];
  return html`
    <section class="panel people" aria-labelledby="sign-ins-title">
      <h2 id="sign-ins-title">${t('signIns')}</h2>
      <p class="dim">${t(may('administrator') ? 'signInsText' : 'signInsOwn')}</p>
      ${
        instead ??
        html`<${Table} label=${t('signIns')} heads=${heads} stack>
          ${(answer.value?.sessions ?? []).map((one) => html`<${SignInRow} key=${one.id} signedIn=${one} onEnded=${() => reload(load)} />`)}
        <//>`
      }
    </section>
  `;
};

export const People = () => html`
  <${Page} title=${t('people')}>
    <${OwnAccount} />
    ${may('administrator') && html`<${Users} />`}
    <${SignIns} />
  <//>
`;
