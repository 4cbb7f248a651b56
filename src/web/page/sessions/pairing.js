/** Connects a session and shows how to link it: with a QR code that is renewed, with a pairing code, or with the simulated phone. */
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, post, textOfFailure } from '../core/api.js';
import { session } from '../core/session.js';
import { t } from '../texts.js';
import { attempt } from '../ui/asking.js';
import { Button, Failed, Field, Icon } from '../ui/parts.js';
import { Passkey } from './passkey.js';

/** @import { PasskeyNotice, SessionAnswer, SessionView } from './types.ts' */

const pollMs = 1_000;
/** The time for which each QR code is valid, in milliseconds. A pairing takes at most two minutes and has six codes. */
const codeMs = 20_000;

/**
 * Connects the session if it is disconnected, and polls its state while the page is visible. Returns the state, the errors, and the functions that
 * connect the session.
 * @param {string} id
 */
const useSession = (id) => {
  const [view, setView] = useState(/** @type {SessionView | null} */ (null));
  const [passkey, setPasskey] = useState(/** @type {PasskeyNotice | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [phoneError, setPhoneError] = useState('');
  const [busy, setBusy] = useState(false);
  const alive = useRef(true);

  /** @param {SessionAnswer} answer */
  const show = ({ instance, status }) => {
    if (!alive.current) return;
    setView(instance);
    setPasskey(status?.passkey ?? null);
  };
  /** @param {() => Promise<unknown>} ask @param {(problem: unknown) => void} onRefused */
  const take = async (ask, onRefused) => {
    setBusy(true);
    setError(null);
    setPhoneError('');
    try {
      show(/** @type {SessionAnswer} */ (await ask()));
    } catch (problem) {
      if (alive.current) onRefused(problem);
    }
    if (alive.current) setBusy(false);
  };
  const connect = () => take(() => post('/instance/connect', {}, { instance: id }), setError);
  const connectAnother = () => take(() => post('/instance/connect', { allowAccountChange: true }, { instance: id }), setError);
  /** @param {string} phone */
  const askCode = (phone) =>
    take(
      () => post('/instance/connect', { phone }, { instance: id }),
      (problem) => setPhoneError(textOfFailure(problem)),
    );
  /** Connects a disconnected session, but joins a pairing that is under way. A new request would replace a code that somebody is typing on the phone. */
  const begin = () =>
    take(async () => {
      const seen = /** @type {SessionAnswer} */ (await get('/instance/status', { instance: id }));
      return seen.instance.status === 'disconnected' ? post('/instance/connect', {}, { instance: id }) : seen;
    }, setError);

  useEffect(() => {
    alive.current = true;
    const look = async () => {
      if (document.hidden) return;
      show(/** @type {SessionAnswer} */ (await get('/instance/status', { instance: id })));
    };
    // A failed poll is ignored, because the next poll repeats it.
    const timer = setInterval(() => look().catch(() => undefined), pollMs);
    void begin();
    return () => {
      alive.current = false;
      clearInterval(timer);
    };
  }, [id]);
  return { view, passkey, error, phoneError, busy, connect, connectAnother, askCode };
};

/** @param {{ qrcode: string }} props */
const Countdown = ({ qrcode }) => {
  const [left, setLeft] = useState(codeMs);
  useEffect(() => {
    const end = performance.now() + codeMs;
    setLeft(codeMs);
    const timer = setInterval(() => setLeft(Math.max(0, end - performance.now())), 250);
    return () => clearInterval(timer);
  }, [qrcode]);
  const seconds = Math.ceil(left / 1000);
  return html`
    <div class="countdown">
      <p><strong>${t('ageSeconds', { n: seconds })}</strong> ${t('pairUntilNext')}</p>
      <div class="track" aria-hidden="true"><div style=${{ width: `${(left / codeMs) * 100}%` }}></div></div>
    </div>
  `;
};

/** @param {{ busy: boolean, error: string, onAsk: (phone: string) => void }} props */
const CodeForm = ({ busy, error, onAsk }) => {
  const [open, setOpen] = useState(false);
  /** @param {SubmitEvent} event */
  const onSubmit = (event) => {
    event.preventDefault();
    onAsk(String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('phone')));
  };
  if (!open) {
    return html`
      <div class="aside">
        <p class="dim">${t('pairNoCamera')}</p>
        <${Button} onClick=${() => setOpen(true)}>${t('pairUseCode')}<//>
      </div>
    `;
  }
  return html`
    <form class="aside" data-unguarded onSubmit=${onSubmit}>
      <${Field}
        label=${t('pairPhone')}
        hint=${t('pairPhoneHint')}
        error=${error}
        name="phone"
        type="tel"
        inputmode="tel"
        required
        autofocus
        autocomplete="off"
      />
      <${Button} type="submit" busy=${busy}>${t('pairGetCode')}<//>
    </form>
  `;
};

/** @param {{ id: string }} props */
const SimulatedPhone = ({ id }) => {
  const [busy, setBusy] = useState(false);
  const scan = async () => {
    setBusy(true);
    await attempt(() => post('/admin/sandbox/scan', {}, { instance: id }));
    setBusy(false);
  };
  return html`
    <div class="sandbox of-hibernated">
      <p><strong>${t('sandboxHere')}</strong> ${t('sandboxLead')}</p>
      <${Button} kind="main" busy=${busy} onClick=${scan}>${t('sandboxScan')}<//>
    </div>
  `;
};

/** Shows a link to the page of the simulated phones, where the pairing code can be typed. */
const SimulatedKeyboard = () => {
  const page = session.value?.sandboxPage ?? '';
  if (page === '') return null;
  return html`
    <div class="sandbox of-hibernated">
      <p><strong>${t('sandboxHere')}</strong> ${t('sandboxType')}</p>
      <a class="button" href=${page} target="_blank" rel="noreferrer">${t('sandboxOpen')}</a>
    </div>
  `;
};

/** @param {{ code: string }} props */
const PairCode = ({ code }) => html`
  <div class="code-box">
    <p><strong>${t('pairTypeTitle')}</strong></p>
    <p class="dim">${t('pairCodeLead')}</p>
    <output class="paircode">${code.replace(/^(.{4})(.{4})$/, '$1-$2')}</output>
  </div>
`;

/** @param {{ text: string, turning?: boolean }} props */
const Waiting = ({ text, turning = true }) => html`
  <div class="picture-box" role="status">
    <${Icon} name=${turning ? 'connecting' : 'check'} class=${turning ? 'turning' : ''} />
    <p class="dim">${text}</p>
  </div>
`;

/** Returns true if the session was closed because linking with a passkey failed. @param {SessionView} view */
const isAboutPasskey = ({ lastDisconnectReason = '' }) => /passkey|code that the phone showed/.test(lastDisconnectReason);

/**
 * Shows the pairing of a session. `onConnected` is called when the session is connected. `onCode` is called with true while a pairing code is shown,
 * and `onPasskey` with true while the platform asks for a passkey, at each change.
 * @param {{ id: string, onConnected?: (view: SessionView) => void, onCode?: (isCode: boolean) => void, onPasskey?: (isAsked: boolean) => void }} props
 */
export const Pairing = ({ id, onConnected = () => undefined, onCode = () => undefined, onPasskey = () => undefined }) => {
  const { view, passkey, error, phoneError, busy, connect, connectAnother, askCode } = useSession(id);
  const connected = view?.status === 'connected';
  useEffect(() => {
    if (connected && view !== null) onConnected(view);
  }, [connected]);
  const isCode = (view?.qrcode ?? '') === '' && (view?.paircode ?? '') !== '';
  useEffect(() => onCode(isCode), [isCode]);
  useEffect(() => onPasskey(passkey !== null), [passkey !== null]);

  if (error !== null && !connected) return html`<${Failed} error=${error} onRetry=${connect} />`;
  if (connected) return html`<${Waiting} turning=${false} text=${t('pairDone', { name: view?.profileName || view?.owner || '' })} />`;
  if (view?.status === 'disconnected' && !busy && view.lastDisconnectReason?.startsWith('another account')) {
    return html`
      <div class="picture-box" role="status">
        <p>${t('pairOther')}</p>
        <${Button} kind="main" onClick=${connect}>${t('pairAgain')}<//>
        <${Button} kind="danger" onClick=${connectAnother}>${t('pairAnew')}<//>
      </div>
    `;
  }
  if (view?.status === 'disconnected' && !busy) {
    return html`
      <div class="picture-box" role="status">
        <p>${isAboutPasskey(view) ? view.lastDisconnectReason : t('pairOver')}</p>
        <${Button} kind="main" onClick=${connect}>${t('pairAgain')}<//>
      </div>
    `;
  }
  if (passkey !== null) return html`<${Passkey} id=${id} notice=${passkey} />`;
  const [qrcode, code] = [view?.qrcode ?? '', view?.paircode ?? ''];
  if (qrcode === '' && code === '') return html`<${Waiting} text=${t(view === null ? 'pairStarting' : 'pairLoggingIn')} />`;
  return html`
    <div class=${qrcode === '' ? 'pairing by-code' : 'pairing'}>
      ${qrcode === '' ? html`<${PairCode} code=${code} />` : html`<img class="qr" src=${qrcode} alt=${t('pairQr')} width="200" height="200" />`}
      <div class="ways">
        ${qrcode !== '' && html`<${Countdown} qrcode=${qrcode} />`}
        ${qrcode !== '' && html`<${CodeForm} busy=${busy} error=${phoneError} onAsk=${askCode} />`}
        ${qrcode === '' && html`<${Button} onClick=${connect} busy=${busy}>${t('pairUseQr')}<//>`}
        ${qrcode !== '' && session.value?.sandbox === true && html`<${SimulatedPhone} id=${id} />`}
        ${isCode && html`<${SimulatedKeyboard} />`}
      </div>
    </div>
  `;
};
