/** Shows the steps that link an account with a passkey: with the extension, or by hand. */
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { call, get, post, textOfFailure } from '../core/api.js';
import { t } from '../texts.js';
import { attempt } from '../ui/asking.js';
import { Button, Field, Icon } from '../ui/parts.js';
import { saved } from '../ui/unsaved.js';

/** @import { PasskeyNotice } from './types.ts' */

const site = 'https://web.whatsapp.com/';

/** @typedef {{ readonly code: string, readonly expires: string }} Code */

/** Returns the link that the extension accepts. @param {Code} made */
const linkOf = ({ code }) => `${location.origin}#${code}`;

/**
 * Returns the time left until `expires`, in milliseconds, and updates it every second. The result is at most `wholeMs`, because the clock of the browser may be
 * wrong.
 * @param {string} expires @param {number} wholeMs
 */
const useLeft = (expires, wholeMs) => {
  const [left, setLeft] = useState(wholeMs);
  useEffect(() => {
    const given = Date.parse(expires.replace(' ', 'T')) - Date.now();
    const end = performance.now() + Math.min(wholeMs, Math.max(0, Number.isFinite(given) ? given : wholeMs));
    const tick = () => setLeft(Math.max(0, end - performance.now()));
    tick();
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [expires]);
  return left;
};

/** Formats a time as minutes and seconds, such as `9:05`. @param {number} ms */
const clockOf = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, '0')}`;

/** @param {{ text: string, label: string }} props */
const Copy = ({ text, label }) => html`
  <${Button} onClick=${() => attempt(() => navigator.clipboard.writeText(text), t('passkeyCopied'))}>${label}<//>
`;

/** @param {{ made: Code, onAgain: () => void, busy: boolean }} props */
const CodeShown = ({ made, onAgain, busy }) => {
  const left = useLeft(made.expires, 600_000);
  const link = linkOf(made);
  if (left === 0) {
    return html`
      <p role="status">${t('passkeyCodeOver')}</p>
      <${Button} kind="main" busy=${busy} onClick=${onAgain}>${t('passkeyCodeAgain')}<//>
    `;
  }
  return html`
    <output class="paircode">${made.code}</output>
    <p class="note">${t('passkeyCodeLeft', { left: clockOf(left) })}</p>
    <div class="actions">
      <a class="button main" href=${`${site}#dormouse=${encodeURIComponent(link)}`} target="_blank" rel="noreferrer"
        >${t('passkeyOpenWeb')}</a
      >
      <${Copy} text=${link} label=${t('passkeyCopyLink')} />
      <${Button} kind="quiet" busy=${busy} onClick=${onAgain}>${t('passkeyCodeAgain')}<//>
    </div>
  `;
};

/** @param {{ id: string }} props */
const ByExtension = ({ id }) => {
  const [made, setMade] = useState(/** @type {Code | null} */ (null));
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    const code = await attempt(() => post('/instance/passkey/link', {}, { instance: id }));
    if (code !== undefined) setMade(/** @type {Code} */ (code));
    setBusy(false);
  };
  return html`
    <ol class="passkey-steps">
      <li>
        <p>${t('passkeyInstall')}</p>
        <p class="note">${t('passkeyInstallHow')}</p>
        <a class="button" href="/admin/extension.zip" download>${t('passkeyDownload')}</a>
      </li>
      <li>
        <p>${t('passkeyMake')}</p>
        ${
          made === null
            ? html`<${Button} kind="main" busy=${busy} onClick=${make}>${t('passkeyMakeCode')}<//>`
            : html`<${CodeShown} key=${made.code} made=${made} busy=${busy} onAgain=${make} />`
        }
      </li>
      <li><p>${t('passkeySign')}</p></li>
    </ol>
  `;
};

/** @param {unknown} options */
const snippetOf = (options) => `const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)});
const credential = await navigator.credentials.get({ publicKey });
JSON.stringify(credential.toJSON());`;

/** Parses the text that the console printed. The text may be in quotation marks. @param {string} text */
const assertionOf = (text) => JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));

/** @param {{ id: string }} props */
const ByHand = ({ id }) => {
  const [snippet, setSnippet] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const load = () =>
    attempt(async () => {
      const { options } = /** @type {{ options: unknown }} */ (await get('/instance/passkey', { instance: id }));
      if (options !== null) setSnippet(snippetOf(options));
    });
  /** @param {SubmitEvent} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError('');
    try {
      const form = /** @type {HTMLFormElement} */ (event.target);
      await post('/instance/passkey', assertionOf(String(new FormData(form).get('assertion'))), { instance: id });
      saved(form);
    } catch (problem) {
      setError(problem instanceof SyntaxError ? t('passkeyNoJson') : textOfFailure(problem));
    }
    setBusy(false);
  };
  return html`
    <details class="by-hand" onToggle=${load}>
      <summary>${t('passkeyByHand')}</summary>
      <ol class="passkey-steps">
        <li>
          <p>${t('passkeyHandOpen')}</p>
          <a class="button" href=${site} target="_blank" rel="noreferrer">${t('passkeyOpenWeb')}</a>
        </li>
        <li>
          <p>${t('passkeyHandRun')}</p>
          <pre class="call" tabindex="0">${snippet}</pre>
          <${Copy} text=${snippet} label=${t('passkeyCopySnippet')} />
        </li>
        <li>
          <form class="message-form" onSubmit=${onSubmit}>
            <${Field} as="textarea" rows="4" label=${t('passkeyPaste')} error=${error} name="assertion" required spellcheck=${false} />
            <${Button} type="submit" busy=${busy}>${t('passkeyHandIn')}<//>
          </form>
        </li>
      </ol>
    </details>
  `;
};

/** @param {{ id: string, notice: PasskeyNotice }} props */
const Signing = ({ id, notice }) => {
  const left = useLeft(notice.expires, 600_000);
  return html`
    <p><strong>${t('passkeyTitle')}</strong></p>
    <p>${t('passkeyLead')}</p>
    <p class="note">${t('passkeyLeft', { left: clockOf(left) })}</p>
    <${ByExtension} id=${id} />
    <${ByHand} id=${id} />
  `;
};

/** @param {{ id: string, code: string }} props */
const Comparing = ({ id, code }) => {
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    await attempt(() => post('/instance/passkey/confirm', {}, { instance: id }));
    setBusy(false);
  };
  return html`
    <p><strong>${t('passkeyCompare')}</strong></p>
    <output class="paircode">${code}</output>
    <p>${t('passkeyCompareLead')}</p>
    <${Button} kind="main" busy=${busy} onClick=${confirm}>${t('passkeyConfirm')}<//>
  `;
};

const OnPhone = () => html`
  <div class="picture-box" role="status">
    <${Icon} name="connecting" class="turning" />
    <p class="dim">${t('passkeyPhone')}</p>
  </div>
`;

/** @param {{ id: string, notice: PasskeyNotice }} props */
export const Passkey = ({ id, notice }) => {
  const [busy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    await attempt(() => call('DELETE', '/instance/passkey', { instance: id }));
    setBusy(false);
  };
  return html`
    <section class="passkey" aria-label=${t('passkeyTitle')}>
      ${notice.stage === 'assertion' && html`<${Signing} id=${id} notice=${notice} />`} ${notice.stage === 'phone' && html`<${OnPhone} />`}
      ${notice.stage === 'code' && html`<${Comparing} id=${id} code=${notice.code} />`}
      <div class="actions"><${Button} kind="quiet" busy=${busy} onClick=${cancel}>${t('passkeyCancel')}<//></div>
    </section>
  `;
};
