/** Shows three steps from an empty server to the first message. One step is open. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError, get, post } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { session } from '../core/session.js';
import { useAnswer } from '../instance/load.js';
import { firstRun, noteFirstRun } from '../sessions/first-run.js';
import { NameForm } from '../sessions/new-session.js';
import { Pairing } from '../sessions/pairing.js';
import { isAboutNumber } from '../sessions/words.js';
import { t } from '../texts.js';
import { attempt } from '../ui/asking.js';
import { useForm } from '../ui/forms.js';
import { Button, Field, Icon } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Made } from '../sessions/new-session.js' */
/** @import { Row, RowPage, SessionView } from '../sessions/types.ts' */

/** A contact that the simulated platform knows. */
const simulatedContact = '5511988887777';

/**
 * @param {{ n: number, at: number, title: string, lead: ComponentChildren, children?: ComponentChildren }} props `at`: the step that is open.
 */
const Card = ({ n, at, title, lead, children }) => {
  const phase = n < at ? 'past' : n === at ? 'now' : 'later';
  return html`
    <li class=${`panel step ${phase}`} aria-current=${phase === 'now' ? 'step' : undefined}>
      <span class=${`mark ${phase === 'past' ? 'of-connected' : ''}`}>
        ${phase === 'past' ? html`<${Icon} name="check" label=${t('stepDone')} />` : n}
      </span>
      <div class="inside">
        <h2>${title}</h2>
        <p class=${phase === 'now' ? '' : 'dim'}>${lead}</p>
        ${phase === 'now' && children}
      </div>
    </li>
  `;
};

/** @typedef {{ number: string, text: string }} Sent */

/** @param {{ id: string, onSent: (sent: Sent) => void }} props */
const MessageForm = ({ id, onSent }) => {
  const { busy, error, onSubmit } = useForm(async (fields) => {
    const body = { number: String(fields.get('number')), text: String(fields.get('text')) };
    await post('/send/text', body, { instance: id });
    onSent(body);
  });
  const sandbox = session.value?.sandbox === true;
  const isOfNumber = isAboutNumber(error);
  return html`
    <form class="message-form" onSubmit=${onSubmit}>
      <${Field}
        label=${t('startNumber')}
        error=${isOfNumber ? error : ''}
        hint=${sandbox ? t('startNumberSandbox') : t('pairPhoneHint')}
        name="number"
        type="tel"
        required
        autofocus
        autocomplete="off"
        defaultValue=${sandbox ? simulatedContact : ''}
      />
      <${Field}
        label=${t('startText')}
        error=${isOfNumber ? '' : error}
        name="text"
        required
        autocomplete="off"
        defaultValue=${t('startTextValue')}
      />
      <${Button} kind="main" type="submit" busy=${busy}>${t('startSend')}<//>
    </form>
  `;
};

/** Returns the request of the page as a shell command. @param {Sent} sent */
const curlOf = (sent) => `curl -X POST ${location.origin}/send/text \\
  -H "token: $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '${JSON.stringify(sent).replaceAll("'", "'\\''")}'`;

/** @param {{ made: Made, sent: Sent }} props */
const Done = ({ made, sent }) => {
  const copy = () =>
    attempt(async () => {
      const { token } = /** @type {{ token: string }} */ (await get('/admin/session/token', { instance: made.id }));
      await navigator.clipboard.writeText(token);
    }, t('tokenCopied'));
  return html`
    <section class="panel finish of-connected" aria-labelledby="finish">
      <h2 id="finish"><${Icon} name="connected" />${t('startDone')}</h2>
      <p>${t('startDoneText')}</p>
      <pre class="call" tabindex="0">${curlOf(sent)}</pre>
      <div class="actions">
        <a class="button main" href=${sessionAddress(made.id)}>${t('openSession')}</a>
        <${Button} onClick=${copy}>${t('copyToken')}<//>
        <a class="button" href="/docs">${t('readApi')}</a>
      </div>
    </section>
  `;
};

/**
 * @typedef {object} Progress
 * @property {Row | null} made
 * @property {boolean} linked True if the session can send a message.
 * @property {Sent | null} sent The last text that was sent by an API call; null if there is none.
 */

/**
 * Returns the last text that this session sent by an API call, among its newest 50 messages; null if there is none, or if the user may not read messages.
 * @param {string} instance
 * @returns {Promise<Sent | null>}
 */
const lastSent = async (instance) => {
  const wish = { fromMe: true, limit: 50 };
  /** @type {{ messages: readonly { chatid: string, text: string, wasSentByApi: boolean }[] }} */
  const { messages } = await post('/message/find', wish, { instance }).catch((error) => {
    if (error instanceof ApiError && error.status === 403) return { messages: [] };
    throw error;
  });
  const last = messages.find(({ wasSentByApi, text }) => wasSentByApi && text !== '');
  return last === undefined ? null : { number: last.chatid.replace(/@s\.whatsapp\.net$/, ''), text: last.text };
};

/** @param {Row} made @returns {Promise<Progress>} */
const progressOf = async (made) => {
  const linked = made.status === 'connected' || made.status === 'hibernated';
  return { made, linked, sent: linked ? await lastSent(made.id) : null };
};

/**
 * Loads the progress of a first run that was interrupted, or of the only session.
 * @returns {Promise<Progress>}
 */
const loadProgress = async () => {
  const id = firstRun();
  if (id !== '') {
    const made = /** @type {Row | undefined} */ (
      await get(`/admin/actors/${encodeURIComponent(id)}`).catch((error) => {
        if (error instanceof ApiError && error.status === 404) return noteFirstRun('');
        throw error;
      })
    );
    if (made !== undefined) return progressOf(made);
  }
  const { rows, total } = /** @type {RowPage} */ (await get('/admin/actors?limit=1'));
  const [row] = rows;
  return row === undefined || total > 1 ? { made: null, linked: false, sent: null } : progressOf(row);
};

/** @param {{ begun: Progress }} props */
const Steps = ({ begun }) => {
  const [made, setMade] = useState(/** @type {Made | null} */ (begun.made));
  const [connected, setConnected] = useState(begun.linked);
  const [sent, setSent] = useState(begun.sent);
  const [isCode, setIsCode] = useState(false);
  const [isPasskey, setIsPasskey] = useState(false);
  const [account, setAccount] = useState(begun.made?.number ?? '');
  /** @param {Made} fresh */
  const onMade = (fresh) => {
    noteFirstRun(fresh.id);
    setMade(fresh);
  };
  /** @param {Sent} message */
  const onSent = (message) => {
    noteFirstRun('');
    setSent(message);
  };
  const at = made === null ? 1 : !connected ? 2 : sent === null ? 3 : 4;
  /** @param {SessionView} view */
  const onConnected = (view) => {
    setAccount(view.owner);
    setConnected(true);
  };
  return html`
    <ol class="steps">
      <${Card} n=${1} at=${at} title=${t('startName')} lead=${made === null ? t('startNameLead') : t('startNameDone', { name: made.name })}>
        <${NameForm} onMade=${onMade} submit=${t('startNameSubmit')} />
      <//>
      <${Card}
        n=${2}
        at=${at}
        title=${t(isCode && at === 2 ? 'pairTypeTitle' : 'startScan')}
        lead=${at > 2 ? t('startScanDone', { number: account }) : t(isPasskey ? 'passkeyNext' : 'pairHow')}
      >
        ${made !== null && html`<${Pairing} id=${made.id} onConnected=${onConnected} onCode=${setIsCode} onPasskey=${setIsPasskey} />`}
      <//>
      <${Card} n=${3} at=${at} title=${t('startMessage')} lead=${sent !== null ? t('startMessageDone') : t('startMessageLead')}>
        ${made !== null && html`<${MessageForm} id=${made.id} onSent=${onSent} />`}
      <//>
    </ol>
    ${sent !== null && made !== null && html`<${Done} made=${made} sent=${sent} />`}
  `;
};

export const Start = () => {
  const { answer, instead } = useAnswer(loadProgress, []);
  return html`
    <${Shell} title=${t('startTitle')} crumbs=${[{ text: t('sessions'), href: '/admin' }, { text: t('startCrumb') }]}>
      <div class="start">
        <h1>${t('startTitle')}</h1>
        <p class="dim">${t('startLead')}</p>
        <p class="dim"><a href="/admin/moving">${t('movingStart')}</a></p>
        ${instead ?? html`<${Steps} begun=${answer.value} />`}
      </div>
    <//>
  `;
};
