/** The view of one session: a head that is kept up to date, and tabs for the state, chats, webhooks, campaigns, chatbot, Chatwoot, console and settings. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ApiError } from '../core/api.js';
import { lostSince } from '../core/contact.js';
import { sessionAddress } from '../core/router.js';
import { may } from '../core/session.js';
import { Chats } from '../chats/tab.js';
import { actsFor } from '../instance/acts.js';
import { Campaigns } from '../instance/campaigns.js';
import { Chatbot } from '../instance/chatbot.js';
import { Chatwoot } from '../instance/chatwoot.js';
import { Console } from '../instance/console.js';
import { LinkDialog, LinkPanel } from '../instance/linking.js';
import { Live } from '../instance/live.js';
import { Settings } from '../instance/settings.js';
import { StateTab } from '../instance/state-tab.js';
import { sinceText } from '../instance/times.js';
import { Webhooks } from '../instance/webhooks.js';
import { groupOf, initialsOf, pictureOf } from '../sessions/words.js';
import { t } from '../texts.js';
import { isAsking } from '../ui/asking.js';
import { Button, Empty, Failed, Loading, StateBadge } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

const tabs = {
  state: StateTab,
  chats: Chats,
  webhooks: Webhooks,
  campaigns: Campaigns,
  chatbot: Chatbot,
  chatwoot: Chatwoot,
  console: Console,
  settings: Settings,
};

/** Tabs whose objects have an address of their own. @type {ReadonlySet<string>} */
const withItems = new Set(['chats', 'webhooks', 'campaigns', 'chatbot']);

/**
 * Tabs with a stream of their own. A window has one stream, so the head of the session is loaded every few seconds in these tabs.
 * @type {ReadonlySet<string>}
 */
const withStreams = new Set(['chats', 'console']);

/** The least role that a tab needs. @type {Readonly<Record<string, import('../core/session.js').Role>>} */
const tabRoles = {
  state: 'viewer',
  chats: 'operator',
  webhooks: 'operator',
  campaigns: 'operator',
  chatbot: 'administrator',
  chatwoot: 'administrator',
  console: 'operator',
  settings: 'administrator',
};

/** @param {{ live: Live }} props */
const Acts = ({ live }) => {
  const busy = useSignal('');
  const detail = live.detail.value;
  if (detail === null || !may('operator')) return null;
  return html`
    <div class="acts" role="group" aria-label=${t('acts')}>
      ${actsFor(detail).map(
        ({ text, kind, run }) => html`
          <${Button}
            key=${text}
            kind=${kind}
            busy=${busy.value === text && !isAsking.value}
            disabled=${busy.value !== ''}
            onClick=${async () => {
              busy.value = text;
              await run(live, () => (live.isLinking.value = true));
              busy.value = '';
            }}
          >
            ${text}
          <//>
        `,
      )}
      <${LinkDialog} live=${live} />
    </div>
  `;
};

/** @param {{ live: Live }} props */
const Head = ({ live }) => {
  const detail = live.detail.value;
  if (detail === null) return null;
  const { id, name, number, status, since } = detail;
  const isUp = status === 'connected';
  return html`
    <div class="who">
      <span class=${`face of-${groupOf(detail)}`} aria-hidden="true">
        <span>${initialsOf(name)}</span>
        ${pictureOf(detail) !== '' && html`<img alt="" width="40" height="40" src=${pictureOf(detail)} />`}
      </span>
      <div>
        <h1>${name}</h1>
        <p class="note">${[number, id].filter(Boolean).join(' · ')}</p>
      </div>
      <${StateBadge} state=${groupOf(detail)} word=${t(/** @type {'state_connected'} */ (`state_${status}`))} />
      ${isUp && html`<p class="note up">${t('upFor', { age: sinceText(since) })}</p>`}
    </div>
    <${Acts} live=${live} />
  `;
};

/** @param {{ id: string, tab: string }} props */
const Tabs = ({ id, tab }) => {
  const tabsOf = useRef(/** @type {HTMLElement | null} */ (null));
  // On a phone the tabs scroll, and the current tab must be visible.
  useEffect(() => tabsOf.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }), [tab]);
  return html`
    <nav ref=${tabsOf} class="tabs" aria-label=${t('tabs')}>
      ${Object.entries(tabRoles).map(
        ([name, least]) =>
          may(least) &&
          html`
            <a
              key=${name}
              href=${sessionAddress(id, name === 'state' ? undefined : name)}
              aria-current=${name === tab ? 'page' : undefined}
            >
              ${t(/** @type {'tab_state'} */ (`tab_${name}`))}
            </a>
          `,
      )}
    </nav>
  `;
};

/** @param {{ live: Live, tab: string, item?: string }} props */
const Body = ({ live, tab, item }) => {
  const { failure, detail } = live;
  if (failure.value instanceof ApiError && failure.value.status === 404)
    return html`<${Empty} heading="h1" title=${t('sessionGone')}><a href="/admin">${t('backToList')}</a><//>`;
  if (failure.value !== null) return html`<${Failed} error=${failure.value} onRetry=${live.load} />`;
  if (detail.value === null) return html`<${Loading} />`;
  const Tab = tabs[/** @type {keyof typeof tabs} */ (tab)];
  const isKnown = Tab !== undefined && (item === undefined || withItems.has(tab));
  return !isKnown || !may(tabRoles[tab] ?? 'administrator')
    ? html`<${Empty} title=${t('notFound')} />`
    : html`${tab === 'state' && may('operator') && html`<${LinkPanel} live=${live} />`}<${Tab} live=${live} item=${item} />`;
};

/** @param {{ id: string, tab?: string, item?: string }} props */
export const Instance = ({ id, tab = 'state', item }) => {
  const live = useMemo(() => new Live(id), [id]);
  useEffect(() => live.start(), [live]);
  const isOwn = withStreams.has(tab);
  useEffect(() => (isOwn ? undefined : live.followSteps()), [live, isOwn]);
  const isLive = isOwn ? lostSince.value === null : live.isLive.value;
  const name = live.detail.value?.name ?? id;
  const isGone = live.failure.value instanceof ApiError && live.failure.value.status === 404;
  return html`
    <${Shell}
      title=${name}
      fixed=${tab === 'chats'}
      live=${isGone ? undefined : live.failure.value !== null ? 'stale' : isLive ? 'live' : 'lost'}
      crumbs=${[{ text: t('sessions'), href: '/admin' }, { text: name }]}
    >
      ${
        !isGone &&
        html`<div class="session-head">
          <${Head} live=${live} />
          <${Tabs} id=${id} tab=${tab} />
        </div>`
      }
      <div class=${tab === 'chats' ? 'session-body of-chats' : 'session-body'}><${Body} live=${live} tab=${tab} item=${item} /></div>
    <//>
  `;
};
