/** The router: the path of the address decides the view, and links change it without loading the page again. */
import { signal } from '@preact/signals';

/** The current path, such as `/admin/sessions/r183e2ef9597845`. */
export const currentPath = signal(location.pathname);

/**
 * A guard that asks before the reader leaves a view. `ask` resolves with true if the reader may leave.
 * @typedef {{ isNeeded: () => boolean, ask: () => Promise<boolean> }} Guard
 */

/** @type {Guard} */
let guard = { isNeeded: () => false, ask: async () => true };

/** Sets the guard of links and of the browser's "back". A view that calls `go` does not ask the guard. @param {Guard} own */
export const guardLeaving = (own) => {
  guard = own;
};

/** Returns true if the guard would ask before the reader leaves the view. */
export const isGuarded = () => guard.isNeeded();

/** The number of the current entry in the history of this tab. Each entry stores its number, so that the router knows the steps between two entries. */
let entry = Number(history.state?.entry ?? 0);

/**
 * Shows another view.
 * @param {string} path
 * @param {{ replace?: boolean }} [options] `replace`: "back" does not return to the view that is left.
 */
export const go = (path, { replace = false } = {}) => {
  if (path === location.pathname) return;
  if (!replace) entry += 1;
  const from = replace ? history.state?.from : location.pathname;
  history[replace ? 'replaceState' : 'pushState']({ entry, from }, '', path);
  currentPath.value = path;
};

/**
 * Leaves a part of a view that has an address of its own, and shows the address of the view. Goes back in the history if the reader came from the view.
 * @param {string} path The path of the view.
 */
export const leaveFor = (path) => {
  if (history.state?.from === path) history.back();
  else go(path, { replace: true });
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
 * Returns the parts of a path that a pattern such as `/admin/sessions/:id` names; null if the path does not fit.
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
  const path = link.pathname;
  if (path === location.pathname || !guard.isNeeded()) go(path);
  else void guard.ask().then((yes) => yes && go(path));
};

/** True if the guard has allowed the next move through the history. */
let isAllowed = false;

/** The number of steps of a move through the history that the page is undoing in order to ask the guard; negative for "back", 0 if there is none. */
let asked = 0;

/** Asks the guard, and repeats an undone move if the guard allows it. @param {number} steps */
const askFor = async (steps) => {
  if (!(await guard.ask())) return;
  isAllowed = true;
  history.go(steps);
};

/** Handles a move through the history. The browser has already moved, so the page undoes the move before it asks the guard. @param {PopStateEvent} event */
const onMove = (event) => {
  // The entry that the skip link made has no number. Such an entry shows the same view as the previous entry.
  const to = Number(event.state?.entry ?? entry);
  const steps = to - entry;
  if (asked !== 0 && steps === 0) {
    const wanted = asked;
    asked = 0;
    void askFor(wanted);
    return;
  }
  if (isAllowed || steps === 0 || location.pathname === currentPath.peek() || !guard.isNeeded()) {
    isAllowed = false;
    entry = to;
    currentPath.value = location.pathname;
    return;
  }
  asked = steps;
  history.go(-steps);
};

/** Handles the links of the page and the browser's "back". */
export const startRouter = () => {
  history.replaceState({ ...history.state, entry }, '');
  addEventListener('popstate', onMove);
  document.addEventListener('click', onClick);
};
