/** Imports sessions of another gateway with one upload, or tries the import in a dry run, and shows the outcome for each session. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { call, textOfFailure } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { t } from '../texts.js';
import { Button, Field, StateBadge } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';
import { saved } from '../ui/unsaved.js';

/**
 * @typedef {object} Moved One session of the answer to `POST /admin/import`.
 * @property {string} name
 * @property {'imported' | 'ready' | 'here' | 'refused'} outcome
 * @property {string} instance
 * @property {string} number
 * @property {string} reason
 * @property {readonly string[]} notes
 * @property {readonly string[]} lost
 */

/** @typedef {{ readonly dryRun: boolean, readonly sessions: readonly Moved[] }} Answer */

/** The sources that a browser can upload. */
const sources = /** @type {const} */ ([
  'folder',
  'evolution',
  'waha',
  'waha-gows',
  'wuzapi',
  'multidevice',
  'whatsmeow',
  'fazer-ai',
  'dormouse',
]);

/** @type {Readonly<Record<Moved['outcome'], string>>} */
const colours = { imported: 'connected', ready: 'connected', here: 'hibernated', refused: 'person' };

/** @param {{ session: Moved }} props */
const Row = ({ session: { name, outcome, instance, number, reason, notes, lost } }) => html`
  <tr>
    <th scope="row">${instance === '' ? name : html`<a href=${sessionAddress(instance)}>${name}</a>`}</th>
    <td>${number}</td>
    <td><${StateBadge} state=${colours[outcome]} word=${t(`moved_${outcome}`)} /></td>
    <td class="because">
      ${[...(outcome === 'refused' ? [reason] : []), ...notes, ...lost].map((text) => html`<p key=${text} lang="en">${text}</p>`)}
    </td>
  </tr>
`;

/** @param {{ answer: Answer }} props */
const Report = ({ answer: { dryRun, sessions } }) => html`
  <section class="panel nodes moving-report" aria-label=${t('movingResult')} aria-live="polite">
    <p class="note">${t(dryRun ? 'movingTried' : 'movingDone')}</p>
    <div class="scroll" tabindex="0" role="group" aria-label=${t('movingResult')}>
      <table>
        <thead>
          <tr>
            <th scope="col">${t('movingName')}</th>
            <th scope="col">${t('movingNumber')}</th>
            <th scope="col">${t('movingResult')}</th>
            <th scope="col">${t('movingNotes')}</th>
          </tr>
        </thead>
        <tbody>
          ${sessions.map((session, at) => html`<${Row} key=${at} session=${session} />`)}
        </tbody>
      </table>
    </div>
  </section>
`;

/**
 * @param {FormData} form
 * @param {boolean} dryRun
 * @returns {Promise<Answer>}
 */
const upload = (form, dryRun) => {
  const query = new URLSearchParams({ from: String(form.get('from')), dryRun: String(dryRun), into: String(form.get('into')) });
  const secret = String(form.get('secret'));
  /** @type {Record<string, string>} */
  const headers = secret === '' ? {} : { 'x-passphrase': secret };
  return call('POST', `/admin/import?${query}`, { bytes: /** @type {File} */ (form.get('file')), headers });
};

export const Moving = () => {
  const [busy, setBusy] = useState('');
  const [error, setError] = useState('');
  const [answer, setAnswer] = useState(/** @type {Answer | null} */ (null));
  /** @param {SubmitEvent} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const act = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value ?? 'try';
    setBusy(act);
    setError('');
    setAnswer(null);
    try {
      setAnswer(await upload(new FormData(form), act === 'try'));
      if (act !== 'try') saved(form);
    } catch (problem) {
      setError(textOfFailure(problem));
    }
    setBusy('');
  };
  return html`
    <${Shell} title=${t('moving')}>
      <div class="start">
        <h1>${t('moving')}</h1>
        <p class="dim">${t('movingLead')}</p>
        <form class="panel message-form moving-form" onSubmit=${onSubmit}>
          <${Field} as="select" label=${t('movingFrom')} name="from">
            ${sources.map((name) => html`<option key=${name} value=${name}>${t(`from_${name}`)}</option>`)}
          <//>
          <${Field} label=${t('movingFile')} hint=${t('movingFileHint')} error=${error} name="file" type="file" required />
          <${Field} label=${t('movingInto')} hint=${t('movingIntoHint')} name="into" autocomplete="off" />
          <${Field} label=${t('movingSecret')} hint=${t('movingSecretHint')} name="secret" type="password" autocomplete="off" />
          <div class="actions">
            <${Button} kind="main" type="submit" value="try" busy=${busy === 'try'} disabled=${busy !== ''}>${t('movingTry')}<//>
            <${Button} type="submit" value="import" busy=${busy === 'import'} disabled=${busy !== ''}>${t('movingImport')}<//>
          </div>
        </form>
        ${answer !== null && html`<${Report} answer=${answer} />`}
      </div>
    <//>
  `;
};
