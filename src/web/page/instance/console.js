/** The console: sends a message to a number, and shows the events of the session as they arrive. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { fieldsOf, post } from '../core/api.js';
import { session } from '../core/session.js';
import { isPaused } from '../core/seats.js';
import { follow } from '../core/stream.js';
import { isAboutNumber } from '../sessions/words.js';
import { t } from '../texts.js';
import { useForm } from '../ui/forms.js';
import { Button, Empty, Field } from '../ui/parts.js';
import { timeText } from './times.js';

/** @import { Live } from './live.js' */
/** @typedef {{ key: number, at: number, type: string, data: unknown, isOwn: boolean }} Line */

const kept = 200;

/** Returns a summary of an event: the chat or the status that it is about, and its text. @param {unknown} data */
const glance = (data) => {
  const event = fieldsOf(data);
  const body = fieldsOf(event['data'] ?? event);
  const who = [body['sender_pn'], body['chatid'], fieldsOf(body['instance'])['status'], body['status'], body['state']].find(
    (value) => typeof value === 'string' && value !== '',
  );
  const text = body['text'] || body['error'];
  return [typeof who === 'string' ? who.split('@', 1)[0] : '', typeof text === 'string' ? text : ''].filter(Boolean).join(' · ');
};

/** @param {{ line: Line }} props */
const Row = ({ line: { at, type, data, isOwn } }) => html`
  <li>
    <details>
      <summary>
        <time class="dim">${timeText(at)}</time> <strong class=${isOwn ? 'own' : ''}>${type}</strong>
        <span class="dim">${glance(data)}</span>
      </summary>
      <pre tabindex="0">${JSON.stringify(data, null, 2)}</pre>
    </details>
  </li>
`;

/** The last number to which a message was sent. Most tests go to the same number. */
let lastNumber = '';

/** @param {{ live: Live, onAnswer: (type: string, data: unknown) => void }} props */
const SendForm = ({ live, onAnswer }) => {
  const { busy, error, onSubmit } = useForm(async (form, target) => {
    lastNumber = String(form.get('number') ?? '').trim();
    onAnswer(t('answer'), await post('/send/text', { number: lastNumber, text: String(form.get('text') ?? '') }, { instance: live.id }));
    /** @type {HTMLTextAreaElement} */ (target.elements.namedItem('text')).value = '';
  });
  const isOfNumber = isAboutNumber(error);
  return html`
    <form class="panel form send" onSubmit=${onSubmit} aria-labelledby="send-title">
      <h2 id="send-title">${t('sendTitle')}</h2>
      <${Field}
        label=${t('sendNumber')}
        hint=${t('sendNumberHint')}
        name="number"
        inputmode="tel"
        autocomplete="off"
        required
        error=${isOfNumber ? error : ''}
        defaultValue=${lastNumber}
      />
      <${Field} as="textarea" rows="3" label=${t('sendText')} name="text" required error=${isOfNumber ? '' : error} />
      <div class="actions"><${Button} type="submit" kind="main" busy=${busy}>${t('send')}<//></div>
    </form>
  `;
};

/** @param {{ live: Live }} props */
export const Console = ({ live }) => {
  const lines = useSignal(/** @type {readonly Line[]} */ ([]));
  const isOpen = useSignal(false);
  const isRefused = useSignal(false);
  /** @param {string} type @param {unknown} data @param {boolean} isOwn */
  const add = (type, data, isOwn) => {
    const key = (lines.value[0]?.key ?? 0) + 1;
    lines.value = [{ key, at: Date.now(), type, data, isOwn }, ...lines.value].slice(0, kept);
  };
  useEffect(
    () =>
      follow(`/sse?events=${(session.value?.streamTypes ?? []).join(',')}`, {
        instance: live.id,
        onEvent: (type, data) => add(type, data, false),
        onState: (state) => (isOpen.value = state === 'open'),
        onRefused: () => (isRefused.value = true),
      }),
    [live.id],
  );
  const state = isRefused.value ? 'eventsRefused' : isOpen.value ? 'live_live' : isPaused.value ? 'eventsPaused' : 'live_lost';
  return html`
    <div class="console">
      <${SendForm} live=${live} onAnswer=${(/** @type {string} */ type, /** @type {unknown} */ data) => add(type, data, true)} />
      <section class="panel events" aria-labelledby="events-title">
        <header>
          <h2 id="events-title">${t('events')}</h2>
          <p class=${`note pulse of-${isOpen.value ? 'connected' : 'connecting'}`} role="status">${t(state)}</p>
          ${lines.value.length > 0 && html`<${Button} onClick=${() => (lines.value = [])}>${t('clear')}<//>`}
        </header>
        ${
          lines.value.length === 0
            ? html`<${Empty} title=${t('eventsNone')} text=${t('eventsNoneText')} />`
            : html`<ol class="event-list" aria-live="off">
                ${lines.value.map((line) => html`<${Row} key=${line.key} line=${line} />`)}
              </ol>`
        }
      </section>
    </div>
  `;
};
