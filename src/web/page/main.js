/**
 * Starts the dashboard. Shows the view of the address, or the sign-in view if nobody is signed in.
 *
 * The modules run in the browser without a build step. Preact draws, htm writes elements as templates, and signals contain the changing values. The folders:
 * `core/` (address, requests, streams, session), `ui/` (parts, notices, questions, the frame), `texts/` (every shown word), `style/` (loaded in the order of
 * their names). `views/` uses `list/`, `sessions/` (for any session), `instance/` (the page of one session), `chats/` (its chats) and `chart/` (its statechart;
 * `chart/scene.js` is pure and decides what is drawn). Types are JSDoc, and `npm run typecheck` checks them.
 *
 * A new view needs a module in `views/` with a component that draws a `Shell`, and a line in the table below. It needs its path in `views` of
 * `src/http/dashboard.ts` if the address is of a new kind. Its texts go to `texts/en.js` and `texts/pt.js`, and its style to a file of `style/`, with the
 * variables of `1-tokens.css`. Elements take `class` and `style` objects. A `style` text in a template violates the Content-Security-Policy.
 *
 * `ui/shown.js` shows characters that change the direction of a text as codes, in everything that Preact draws. Views need not do so.
 *
 * Every view has an empty, a loading and an error state (`Empty`, `Loading`, `Failed` of `ui/parts.js`). Requests go through `core/api.js` (`instance`
 * names their session), streams through `core/stream.js`, actions through `attempt` and `ask` of `ui/asking.js`.
 */
import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { startHeartbeat, whenBack } from './core/contact.js';
import { currentPath, match, startRouter } from './core/router.js';
import { isKept, loadSession, session } from './core/session.js';
import { t } from './texts.js';
import { Asking, unask } from './ui/asking.js';
import { Empty, Failed, Loading } from './ui/parts.js';
import { Shell } from './ui/shell.js';
import { showSigns } from './ui/shown.js';
import { guardForms } from './ui/unsaved.js';
import { Alerts } from './views/alerts.js';
import { Audit } from './views/audit.js';
import { Figures } from './views/figures.js';
import { About } from './views/about.js';
import { GlobalWebhook } from './views/global-webhook.js';
import { Instance } from './views/instance.js';
import { List } from './views/list.js';
import { Moving } from './views/moving.js';
import { NodePage } from './views/node.js';
import { Nodes } from './views/nodes.js';
import { Proxies } from './views/proxies.js';
import { SettingsInForce } from './views/settings-in-force.js';
import { Storage } from './views/storage.js';
import { People } from './views/people.js';
import { SignIn, SignInAgain } from './views/sign-in.js';
import { Start } from './views/start.js';

/** @import { ComponentType } from 'preact' */

/** The parts of the path that start with a colon become properties of the view. @type {readonly { path: string, view: ComponentType<never> }[]} */
const views = [
  { path: '/admin', view: List },
  { path: '/admin/start', view: Start },
  { path: '/admin/moving', view: Moving },
  { path: '/admin/cluster', view: Nodes },
  { path: '/admin/charts', view: Figures },
  { path: '/admin/alerting', view: Alerts },
  { path: '/admin/cluster/:name', view: NodePage },
  { path: '/admin/proxies-of-sessions', view: Proxies },
  { path: '/admin/global-webhook', view: GlobalWebhook },
  { path: '/admin/global-webhook/:item', view: GlobalWebhook },
  { path: '/admin/disk-use', view: Storage },
  { path: '/admin/people', view: People },
  { path: '/admin/audit-log', view: Audit },
  { path: '/admin/settings-in-force', view: SettingsInForce },
  { path: '/admin/about', view: About },
  { path: '/admin/sessions/:id', view: Instance },
  { path: '/admin/sessions/:id/:tab', view: Instance },
  { path: '/admin/sessions/:id/:tab/:item', view: Instance },
];

const failure = signal(/** @type {unknown} */ (null));

const load = () => {
  failure.value = null;
  loadSession().catch((error) => {
    failure.value = error;
  });
};

const Lost = () => html`
  <${Shell} title=${t('notFound')}>
    <${Empty} heading="h1" title=${t('notFound')}><a href="/admin">${t('backToList')}</a><//>
  <//>
`;

const View = () => {
  for (const { path, view } of views) {
    const params = match(path, currentPath.value);
    if (params !== null) return html`<${view} ...${params} />`;
  }
  return html`<${Lost} />`;
};

const App = () => {
  const where = currentPath.value;
  const first = useRef(true);
  // The focus moves to the new view, for readers who use the keyboard or a screen reader.
  useEffect(() => {
    const main = document.getElementById('main');
    if (first.current) first.current = false;
    // A view that begins with a field has already focused this field.
    else if (!main?.contains(document.activeElement)) main?.focus();
  }, [where]);
  const isIn = session.value?.signedIn ?? false;
  // A question is withdrawn when the session has ended.
  useEffect(() => void (isIn || unask()), [isIn]);
  if (failure.value !== null)
    return html`<${Shell} title=${t('failed')}><${Failed} heading="h1" error=${failure.value} onRetry=${load} /><//>`;
  if (session.value === null) return html`<${Shell} title=${t('loading')}><${Loading} /><//>`;
  const { user, role } = session.value;
  const isShown = isIn || isKept.value;
  // If another person signs in, the key changes and Preact creates the view anew. The view then shows no data of the former person.
  return html`
    ${isShown ? html`<${View} key=${`${role} ${user}`} />` : html`<${SignIn} />`} ${isShown && !isIn && html`<${SignInAgain} />`}
    <${Asking} />
  `;
};

showSigns();
startRouter();
guardForms();
startHeartbeat();
whenBack(() => failure.peek() !== null && load());
load();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
