/** The settings of a session: its name, its pace, the administrator's fields, its token, and its removal. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { t } from '../texts.js';
import { ask, attempt, toast } from '../ui/asking.js';
import { useForm } from '../ui/forms.js';
import { Button, Field } from '../ui/parts.js';
import { actOnSession } from './acts.js';
import { useAnswer } from './load.js';
import { timeText } from './times.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Live } from './live.js' */

/** The log levels, as the server spells them. */
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'];

/** @param {{ title: string, lead: string, onSave: (form: FormData) => Promise<unknown>, children?: ComponentChildren }} props */
const Card = ({ title, lead, onSave, children }) => {
  const { busy, error, onSubmit } = useForm(async (fields) => {
    await onSave(fields);
    toast(t('saved'));
  });
  return html`
    <form class="panel form" onSubmit=${onSubmit}>
      <h2>${title}</h2>
      <p class="dim">${lead}</p>
      ${children} ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
      <div class="actions"><${Button} type="submit" busy=${busy}>${t('save')}<//></div>
    </form>
  `;
};

/** @param {{ live: Live }} props */
const Token = ({ live }) => {
  const token = useSignal('');
  const show = async () => {
    const answer = await attempt(() => get('/admin/session/token', { instance: live.id }));
    if (answer !== undefined) token.value = answer.token;
  };
  const rotate = async () => {
    if (!(await ask({ title: t('rotateTitle'), text: t('rotateText'), yes: t('rotate'), danger: true }))) return;
    const answer = await attempt(() => post('/instance/token/rotate', {}, { instance: live.id }), t('rotateDone'));
    if (answer !== undefined) token.value = answer.token;
  };
  return html`
    <section class="panel form" aria-labelledby="token-title">
      <h2 id="token-title">${t('tokenTitle')}</h2>
      <p class="dim">${t('tokenLead')}</p>
      ${token.value !== '' && html`<p><code class="secret">${token.value}</code></p>`}
      <div class="actions">
        ${token.value === '' ? html`<${Button} onClick=${show}>${t('tokenShow')}<//>` : html`<${Button} onClick=${() => (token.value = '')}>${t('tokenHide')}<//>`}
        <${Button} kind="danger" onClick=${rotate}>${t('rotate')}<//>
      </div>
    </section>
  `;
};

/** @param {{ live: Live, onSave: (form: FormData) => Promise<unknown> }} props */
const LogLevel = ({ live, onSave }) => {
  const present = live.detail.value?.logLevel ?? null;
  const now = present === null ? t('logUsual') : t('logNow', { level: present.level, time: timeText(present.until) });
  return html`
    <${Card} title=${t('logTitle')} lead=${`${t('logLead')} ${now}`} onSave=${onSave}>
      <div class="pair">
        <${Field} as="select" label=${t('logLevel')} name="level">
          ${logLevels.map((level) => html`<option key=${level} selected=${level === (present?.level ?? 'info')}>${level}</option>`)}
        <//>
        <${Field} label=${t('logMinutes')} name="minutes" type="number" min="1" max="1440" required defaultValue="60" />
      </div>
    <//>
  `;
};

/** @param {{ live: Live }} props */
export const Settings = ({ live }) => {
  const { answer, instead } = useAnswer(() => get('/instance/status', { instance: live.id }), [live.id]);
  if (instead !== null) return instead;
  const { id } = live;
  const { instance } = answer.value;
  /** @param {FormData} form @param {string} name */
  const text = (form, name) => String(form.get(name) ?? '').trim();
  /** @param {FormData} form */
  const rename = async (form) => {
    await post('/instance/updateInstanceName', { name: text(form, 'name') }, { instance: id });
    await live.load();
  };
  /** @param {FormData} form */
  const pace = (form) =>
    post(
      '/instance/updateDelaySettings',
      { msg_delay_min: Number(form.get('min')), msg_delay_max: Number(form.get('max')) },
      { instance: id },
    );
  /** @param {FormData} form */
  const note = (form) => post('/instance/updateAdminFields', { id, adminField01: text(form, 'one'), adminField02: text(form, 'two') });
  /** @param {FormData} form */
  const log = async (form) => {
    await post(`/admin/actors/${id}/events`, { type: 'logLevel', level: text(form, 'level'), minutes: Number(form.get('minutes')) });
    await live.load();
  };
  return html`
    <div class="settings">
      <${Card} title=${t('nameTitle')} lead=${t('nameLead')} onSave=${rename}>
        <${Field} label=${t('newName')} name="name" required maxlength="200" defaultValue=${instance.name} />
      <//>
      <${Card} title=${t('paceTitle')} lead=${t('paceLead')} onSave=${pace}>
        <div class="pair">
          <${Field} label=${t('paceLeast')} name="min" type="number" min="0" max="3600" required defaultValue=${instance.msg_delay_min} />
          <${Field} label=${t('paceMost')} name="max" type="number" min="0" max="3600" required defaultValue=${instance.msg_delay_max} />
        </div>
      <//>
      <${Card} title=${t('fieldsTitle')} lead=${t('fieldsLead')} onSave=${note}>
        <${Field} label="adminField01" name="one" maxlength="1000" defaultValue=${instance.adminField01} />
        <${Field} label="adminField02" name="two" maxlength="1000" defaultValue=${instance.adminField02} />
      <//>
      <${Token} live=${live} />
      <${LogLevel} live=${live} onSave=${log} />
      <section class="panel form" aria-labelledby="end-title">
        <h2 id="end-title">${t('endTitle')}</h2>
        <p class="dim">${t('ask_delete_text')}</p>
        <div class="actions"><${Button} kind="danger" onClick=${() => actOnSession(live, 'delete')}>${t('act_delete')}<//></div>
      </section>
    </div>
  `;
};
