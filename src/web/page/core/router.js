/** The router: the path of the address decides the view, and links change it without loading the page again. */
import { signal } from '@preact/signals';

/** The current path, such as `/admin/sessions/r183e2ef9597845`. */
export const place = signal(location.pathname);

/**
 * Shows another view.
 * @param {string} path
 * @param {{ replace?: boolean }} [options] `replace`: "back" does not return to the view that is left.
 */
export const go = (path, { replace = false } = {}) => {
  if (path === location.pathname) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  place.value = path;
};

/**
 * Returns the address of a session in the page, of a tab of the session, or of an object in the tab.
 * @param {string} session
 * @param {string} [tab]
 * @param {string} [item]
 */
export const sessionAddress = (session, tab, item) =>
  ['/admin/sessions', ...[session, tab, item].filter((part) => part !== undefined).map(encodeURIComponent)].join('/');

/**
 * The parts of a path that a pattern such as `/admin/sessions/:id` names; null when it does not fit.
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
export const match = (pattern, path) => {
  const [wanted, given] = [pattern.split('/'), path.replace(/\/$/, '').split('/')];
  if (wanted.length !== given.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(text);
    else if (part !== text) return null;
  }
  return params;
};

/** @param {MouseEvent} event */
const onClick = (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (
    link === null ||
    link.target !== '' ||
    link.hasAttribute('download') ||
    link.origin !== location.origin ||
    !/^\/admin(\/|$)/.test(link.pathname)
  )
    return;
  event.preventDefault();
  go(link.pathname);
};

/** Takes over links of the page and the browser's "back". */
export const startRouter = () => {
  addEventListener('popstate', () => {
    place.value = location.pathname;
  });
  document.addEventListener('click', onClick);
};
