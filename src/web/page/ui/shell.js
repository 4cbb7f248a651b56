/** The frame around every view: product name, breadcrumb, navigation, language, colour scheme, sign-out. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { lostSince } from '../core/contact.js';
import { isPaused } from '../core/seats.js';
import { session, signOut } from '../core/session.js';
import { chooseLanguage, languages, nextLanguage, t, timeOfDay } from '../texts.js';
import { Pages } from './nav.js';
import { Button, Icon } from './parts.js';

/** @import { ComponentChildren } from 'preact' */

/** @typedef {'system' | 'light' | 'dark'} Theme */
const chosen = document.documentElement.dataset['theme'];
const theme = signal(/** @type {Theme} */ (chosen === 'light' || chosen === 'dark' ? chosen : 'system'));
/** @type {Readonly<Record<Theme, Theme>>} */
const following = { system: 'light', light: 'dark', dark: 'system' };

const nextTheme = () => {
  const next = following[theme.value];
  theme.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  try {
    localStorage.setItem('theme', next);
  } catch {
    // Some private windows forbid storage. The choice then lasts until the reader leaves the page.
  }
};

const ThemeButton = () => {
  const label = t('theme', { now: t(/** @type {'theme_system'} */ (`theme_${theme.value}`)) });
  return html`<${Button} kind="square" icon="theme" aria-label=${label} title=${label} onClick=${nextTheme} />`;
};

/** A button that switches to the next language. The label is in the next language, for readers who do not know the current language. */
const LanguageButton = () => {
  const next = nextLanguage();
  const { name, tag } = languages[next];
  const code = next.toUpperCase();
  // The accessible name of a button begins with its shown text, for people who use voice control.
  const label = `${code}, ${name}`;
  return html`<${Button} kind="square" lang=${tag} aria-label=${label} title=${name} onClick=${() => chooseLanguage(next)}>${code}<//>`;
};

/** @typedef {'live' | 'lost' | 'stale'} LiveState `lost`: the stream is not connected. `stale`: loading failed too. */

/** @type {Readonly<Record<LiveState, string>>} */
const liveGroups = { live: 'connected', lost: 'connecting', stale: 'person' };

/**
 * Returns the end of the names of the texts about a state, such as `live` in `liveTitle_live`. `paused`: other windows have the seats for streams.
 * @param {LiveState} state
 */
const wordOf = (state) => (state !== 'stale' && isPaused.value ? 'paused' : state);

/** @param {{ state: LiveState }} props */
const Live = ({ state }) => html`
  <span class=${`live of-${liveGroups[state]}`} role="status" title=${t(`liveTitle_${wordOf(state)}`)}>
    <${Icon} name=${liveGroups[state]} /><span>${t(`live_${wordOf(state)}`)}</span>
  </span>
`;

const Lost = () => {
  const since = lostSince.value;
  if (since === null) return null;
  return html`<p class="no-contact of-person" role="alert"><${Icon} name="person" />${t('noContact', { time: timeOfDay(since) })}</p>`;
};

/**
 * The frame of a view. `crumbs`: the breadcrumb, from the list to the view itself. `title`: the title of the tab. `fixed`: the view is
 * as high as the window, and its parts scroll. `live`: the state of the stream that keeps the view up to date.
 * @param {{ title: string, fixed?: boolean, live?: LiveState, crumbs?: readonly { text: string, href?: string }[], children?: ComponentChildren }} props
 */
export const Shell = ({ title, fixed = false, crumbs = [], live, children }) => {
  useEffect(() => {
    document.title = t('titleOf', { view: title });
  }, [title]);
  return html`
    <div class=${fixed ? 'shell fixed' : 'shell'}>
      <a class="skip" href="#main">${t('skip')}</a>
      <header class=${crumbs.length > 0 ? 'top deep' : 'top'}>
        <a class="brand" href="/admin" aria-label=${t('product')}><${Icon} name="logo" /><span>${t('product')}</span></a>
        ${
          crumbs.length > 0 &&
          html`
            <nav class="crumbs" aria-label=${t('breadcrumb')}>
              ${crumbs.map(({ text, href }, index) => [
                index > 0 && html`<span aria-hidden="true" class="dim">/</span>`,
                href === undefined ? html`<span aria-current="page">${text}</span>` : html`<a href=${href}>${text}</a>`,
              ])}
            </nav>
          `
        }
        <div class="side">
          ${live !== undefined && html`<${Live} state=${live} />`}
          ${session.value?.signedIn !== true && html`<a href="/docs">${t('api')}</a>`}
          <${LanguageButton} />
          <${ThemeButton} />
          ${
            session.value?.signedIn === true &&
            html`<${Button} kind="square" icon="leave" aria-label=${t('signOut')} title=${t('signOut')} onClick=${signOut} />`
          }
        </div>
        ${session.value?.signedIn === true && html`<${Pages} />`}
      </header>
      <${Lost} />
      <main id="main" class=${lostSince.value === null ? '' : 'old'} tabindex="-1">${children}</main>
    </div>
  `;
};

/**
 * A page with a heading and, below the heading, the sentence `lead`. `heading`: the heading, if it differs from `title`. All further properties are passed to
 * `Shell`.
 * @param {{ title: string, heading?: string, lead?: string, crumbs?: readonly { text: string, href?: string }[], children?: ComponentChildren }} props
 */
export const Page = ({ title, heading = title, lead, crumbs, children }) => html`
  <${Shell} title=${title} crumbs=${crumbs}>
    <div class="session-body">
      <h1>${heading}</h1>
      ${lead !== undefined && html`<p class="dim">${lead}</p>`} ${children}
    </div>
  <//>
`;
