/** Links the session with a phone: a dialog that the reader opens, and a panel that is shown without the dialog while the session is being linked. */
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { isLinking } from '../sessions/words.js';
import { Pairing } from '../sessions/pairing.js';
import { t } from '../texts.js';
import { Dialog } from '../ui/parts.js';

/** @import { Live } from './live.js' */

/** Returns true if the next step is on the phone, and not in the browser with the passkey. @param {Live} live */
const isScan = (live) => !(live.detail.value?.state ?? '').startsWith('connecting.passkey');

/** @param {{ live: Live }} props */
export const LinkDialog = ({ live }) => {
  const isConnected = live.detail.value?.status === 'connected';
  const close = () => {
    live.isLinking.value = false;
    void live.load();
  };
  useEffect(() => {
    if (isConnected) live.isLinking.value = false;
  }, [isConnected]);
  if (!live.isLinking.value) return null;
  return html`
    <${Dialog} title=${t('pairTitle', { name: live.detail.value?.name ?? '' })} class="wide" onClose=${close}>
      ${isScan(live) && html`<p>${t('pairHow')}</p>`}
      <${Pairing} id=${live.id} onConnected=${close} />
    <//>
  `;
};

/**
 * The panel that links a phone. The panel stays while a phone that scanned the code logs in. The panel closes when the session has another status or waits
 * for a retry.
 * @param {{ live: Live }} props
 */
export const LinkPanel = ({ live }) => {
  const isShown = useRef(false);
  const detail = live.detail.value;
  if (isLinking(detail?.state ?? '')) isShown.current = true;
  else if (detail?.status !== 'connecting' || detail.state === 'connecting.waiting') isShown.current = false;
  if (!isShown.current || live.isLinking.value || live.back.value !== null) return null;
  return html`
    <section class="panel link-panel" aria-labelledby="link-title">
      <h2 id="link-title">${t('linkTitle')}</h2>
      ${isScan(live) && html`<p class="dim">${t('pairHow')}</p>`}
      <${Pairing} id=${live.id} onConnected=${() => live.load()} />
    </section>
  `;
};
