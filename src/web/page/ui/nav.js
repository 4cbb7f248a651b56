/** The navigation between the pages of the dashboard: a strip below the head, and a menu on a narrow screen. */
import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { currentPath } from '../core/router.js';
import { may, session } from '../core/session.js';
import { t } from '../texts.js';
import { Button } from './parts.js';

/** @import { Role } from '../core/session.js' */

/**
 * A page of the navigation. `text`: its name in the texts. `least`: the least role that sees the entry. `within`: further addresses for which the entry
 * is marked as the current page. `only`: a further condition for showing the entry.
 * @typedef {object} Entry
 * @property {string} href
 * @property {'sessions' | 'figures' | 'alerts' | 'nodes' | 'people' | 'audit' | 'moving' | 'api' | 'proxies' | 'globalHook' | 'storage' | 'settingsPage' | 'versionPage'} text
 * @property {Role} least
 * @property {RegExp} [within]
 * @property {() => boolean} [only]
 */

/**
 * The pages in their order. A new page needs a row in this table, a row of `views` in `main.js`, and an address in `src/http/dashboard.ts`.
 * @type {readonly Entry[]}
 */
const entries = [
  { href: '/admin', text: 'sessions', least: 'viewer', within: /^\/admin\/(?:start$|sessions\/)/ },
  { href: '/admin/charts', text: 'figures', least: 'viewer' },
  { href: '/admin/alerting', text: 'alerts', least: 'administrator' },
  { href: '/admin/cluster', text: 'nodes', least: 'viewer', within: /^\/admin\/cluster\//, only: () => session.value?.cluster === true },
  { href: '/admin/proxies-of-sessions', text: 'proxies', least: 'operator' },
  { href: '/admin/global-webhook', text: 'globalHook', least: 'operator', within: /^\/admin\/global-webhook\// },
  { href: '/admin/disk-use', text: 'storage', least: 'viewer' },
  { href: '/admin/moving', text: 'moving', least: 'administrator' },
  { href: '/admin/people', text: 'people', least: 'viewer' },
  { href: '/admin/audit-log', text: 'audit', least: 'administrator' },
  { href: '/admin/settings-in-force', text: 'settingsPage', least: 'administrator' },
  { href: '/admin/about', text: 'versionPage', least: 'viewer' },
  { href: '/docs', text: 'api', least: 'viewer' },
];

/** @param {Entry} entry @param {string} path */
const isAt = ({ href, within }, path) => path.replace(/\/$/, '') === href || within?.test(path) === true;

/** @param {{ id: string, isOpen: boolean }} props */
const List = ({ id, isOpen }) => html`
  <nav id=${id} class=${isOpen ? 'pages open' : 'pages'} aria-label=${t('pages')}>
    <ul>
      ${entries
        .filter(({ least, only }) => may(least) && (only === undefined || only()))
        .map(
          (entry) => html`
            <li key=${entry.href}>
              <a href=${entry.href} aria-current=${isAt(entry, currentPath.value) ? 'page' : undefined}>${t(entry.text)}</a>
            </li>
          `,
        )}
    </ul>
  </nav>
`;

/** The strip, and the button that opens it on a narrow screen. Escape, a press beside the strip, and a change of the page close it. */
export const Pages = () => {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const where = currentPath.value;
  useEffect(() => setIsOpen(false), [where]);
  useEffect(() => {
    if (!isOpen) return undefined;
    /** @param {Event} event */
    const onAway = (event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setIsOpen(false);
    };
    document.addEventListener('pointerdown', onAway, true);
    return () => document.removeEventListener('pointerdown', onAway, true);
  }, [isOpen]);
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key !== 'Escape' || !isOpen) return;
    setIsOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  return html`
    <div ref=${box} class="site" onKeyDown=${onKey}>
      <${Button} icon="pages" aria-expanded=${isOpen} aria-controls=${id} onClick=${() => setIsOpen(!isOpen)}>
        <span>${t('pagesMenu')}</span>
      <//>
      <${List} id=${id} isOpen=${isOpen} />
    </div>
  `;
};
