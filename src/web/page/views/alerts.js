/** Alerts: the problems that need a person now, and the form for their kinds, channels and times. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { useAnswer } from '../instance/load.js';
import { count, moment, said, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { useForm } from '../ui/forms.js';
import { Button, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { bodyOf, ChannelFields, channels, RuleFields } from './alert-form.js';

/** @import { Channel, Kind, Secret, Settings } from './alert-form.js' */

/** @typedef {{ kind: Kind, key: string, name: string, reason: string, since: number, toldAt: number | null }} Trouble */

/**
 * @typedef {object} Answer The answer of `GET /admin/alerts`.
 * @property {Settings} settings
 * @property {readonly Secret[]} secrets The names of the secrets that are set.
 * @property {readonly Trouble[]} troubles
 * @property {number} total
 * @property {readonly { channel: Channel, at: number, error: string, waiting: number }[]} outcomes
 */

/** @param {{ trouble: Trouble }} props */
const Row = ({ trouble: { kind, key, name, reason, since, toldAt } }) => html`
  <tr>
    <td>${t(`alertKind_${kind}`)}</td>
    <th scope="row">
      ${kind === 'session' ? html`<a href=${sessionAddress(key)}>${name || key}</a>` : name || key || t('figuresGateway')}
    </th>
    <td class="because">${said(reason)}</td>
    <td>${moment(since)}</td>
    <td>${toldAt === null ? t('alertUntold') : t('alertTold', { time: moment(toldAt) })}</td>
  </tr>
`;

/** @param {{ answer: Answer }} props */
const Now = ({ answer: { settings, troubles, total } }) => {
  const heads = /** @type {const} */ (['kind', 'name', 'reason', 'since', 'told']).map((name) => t(`alertTable_${name}`));
  return html`
    <section class="panel people" aria-labelledby="alerts-now">
      <h2 id="alerts-now">${t('alertsNow')}</h2>
      ${
        troubles.length === 0
          ? html`<p class="dim">${t(settings.channels.length === 0 ? 'alertsOff' : 'alertsNone')}</p>`
          : html`<${Table} label=${t('alertsNow')} heads=${heads}>
              ${troubles.map((trouble) => html`<${Row} key=${`${trouble.kind} ${trouble.key}`} trouble=${trouble} />`)}
            <//>`
      }
      ${total > troubles.length && html`<p class="dim">${t('alertsMore', { n: count(total - troubles.length) })}</p>`}
    </section>
  `;
};

/** @param {{ outcome: Answer['outcomes'][number] | undefined }} props */
const Last = ({ outcome }) => {
  if (outcome === undefined) return null;
  const { at, error, waiting } = outcome;
  return html`
    ${at > 0 && html`<p class=${error === '' ? 'note' : 'note bad-outcome'}>${error === '' ? t('alertLast', { time: moment(at) }) : t('alertLastFailed', { time: moment(at), error: said(error) })}</p>`}
    ${waiting > 0 && html`<p class="note">${t('alertWaiting', { n: count(waiting) })}</p>`}
  `;
};

/** @param {{ answer: Answer, onSaved: () => Promise<void> }} props */
const Form = ({ answer: { settings, secrets, outcomes }, onSaved }) => {
  const [testing, setTesting] = useState(false);
  const { busy, error, onSubmit } = useForm(async (fields) => {
    await post('/admin/alerts', bodyOf(fields));
    toast(t('alertSaved'));
    await onSaved();
  });
  /** @param {Channel} channel */
  const test = async (channel) => {
    if (testing) return;
    setTesting(true);
    const answer = await attempt(() => /** @type {Promise<{ sent: boolean, error: string }>} */ (post('/admin/alerts/test', { channel })));
    if (answer !== undefined)
      toast(said(answer.error) || t('alertTested', { channel: t(`alertChannel_${channel}`) }), answer.error === '' ? 'good' : 'bad');
    setTesting(false);
  };
  return html`
    <form class="alert-form" onSubmit=${onSubmit}>
      <div class="alert-parts">
        <${RuleFields} settings=${settings} />
        ${channels.map(
          (channel) => html`
            <${ChannelFields} key=${channel} channel=${channel} settings=${settings} secrets=${secrets} onTest=${test}>
              <${Last} outcome=${outcomes.find((one) => one.channel === channel)} />
            <//>
          `,
        )}
      </div>
      <div class="alert-save">
        <${Button} kind="main" type="submit" busy=${busy}>${t('save')}<//>
        <span class="note">${t('alertTestHint')}</span>
        ${error !== '' && html`<p class="bad-outcome" role="alert">${error}</p>`}
      </div>
    </form>
  `;
};

export const Alerts = () => {
  const [saves, setSaves] = useState(0);
  const { answer, load, instead } = useAnswer(() => /** @type {Promise<Answer>} */ (get('/admin/alerts')), []);
  const onSaved = async () => {
    await load();
    setSaves(saves + 1);
  };
  return html`
    <${Page} title=${t('alerts')} lead=${t('alertsLead')}>
      ${
        instead ??
        html`
          <${Now} answer=${answer.value} />
          <${Form} key=${saves} answer=${answer.value} onSaved=${onSaved} />
        `
      }
    <//>
  `;
};
