/**
 * Starts the dashboard: signs in, then shows the view that fits the address.
 *
 * How it is made. Modules run in the browser as they stand here; Preact draws, htm writes its elements as templates, signals hold what
 * changes. The folders: `core/` (address, requests, streams, session), `ui/` (parts, notices and questions, the frame), `texts/` (every
 * word that is shown), `style/` (loaded in the order of their names), `views/` and what they are made of: `list/`, `sessions/` (what concerns
 * any session), `instance/` (the page of one), `chart/` (its statechart; `chart/scene.js` decides what is drawn, and is pure). Types are JSDoc
 * and checked by `npm run typecheck`.
 *
 * To add a view: a module in `views/` with a component that draws a `Shell`; a line in the table below; its path in `views` of
 * `src/http/dashboard.ts` when the address is of a new kind; its texts in `texts/en.js`; its looks in a file of `style/`, made of the
 * variables of `1-tokens.css`. Elements take `class` and `style` objects; a `style` text in a template is against the policy.
 * Every view has its empty, loading and error state (`Empty`, `Loading`, `Failed` of `ui/parts.js`). Requests go through `core/api.js`
 * (`instance` names the session they are for), streams through `core/stream.js`, acts through `attempt` and `ask` of `ui/asking.js`.
 */
import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { match, place, startRouter } from './core/router.js';
import { loadSession, session } from './core/session.js';
import { t } from './texts.js';
import { Asking, unask } from './ui/asking.js';
import { Empty, Failed, Loading } from './ui/parts.js';
import { Shell } from './ui/shell.js';
import { Instance } from './views/instance.js';
import { List } from './views/list.js';
import { Nodes } from './views/nodes.js';
import { SignIn } from './views/sign-in.js';
import { Start } from './views/start.js';

/** @import { ComponentType } from 'preact' */

/** The parts of the path that start with a colon become properties of the view. @type {readonly { path: string, view: ComponentType<never> }[]} */
const views = [
  { path: '/admin', view: List },
  { path: '/admin/start', view: Start },
  { path: '/admin/cluster', view: Nodes },
  { path: '/admin/sessions/:id', view: Instance },
  { path: '/admin/sessions/:id/:tab', view: Instance },
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
    const params = match(path, place.value);
    if (params !== null) return html`<${view} ...${params} />`;
  }
  return html`<${Lost} />`;
};

const App = () => {
  const where = place.value;
  const first = useRef(true);
  // Readers who use the keyboard or a screen reader go on at the top of the new view.
  useEffect(() => {
    const main = document.getElementById('main');
    if (first.current) first.current = false;
    // A view that begins with a field has put the focus there.
    else if (!main?.contains(document.activeElement)) main?.focus();
  }, [where]);
  const isIn = session.value?.signedIn ?? false;
  // Nobody answers a question for somebody who is signed out.
  useEffect(() => void (isIn || unask()), [isIn]);
  if (failure.value !== null)
    return html`<${Shell} title=${t('failed')}><${Failed} heading="h1" error=${failure.value} onRetry=${load} /><//>`;
  if (session.value === null) return html`<${Shell} title=${t('loading')}><${Loading} /><//>`;
  return html`${session.value.signedIn ? html`<${View} />` : html`<${SignIn} />`}<${Asking} />`;
};

startRouter();
load();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
