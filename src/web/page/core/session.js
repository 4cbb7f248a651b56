/** The sign-in of the page: signed out, or signed in with the admin token or as a user. The page stores no secret. */
import { batch, signal } from '@preact/signals';
import { call, get, holdRequests, whenSignedOut } from './api.js';
import { isGuarded } from './router.js';

/** @typedef {{ version: string, source: 'setting' | 'lookedUp' | 'builtIn' | 'rolledBack', error: string }} ClientVersion */

/** @typedef {'viewer' | 'operator' | 'administrator'} Role */

/**
 * @typedef {object} Session
 * @property {boolean} signedIn
 * @property {boolean} demo True on a public demo server, where nobody can sign in.
 * @property {string} [user] Name of the user; '' for the admin token.
 * @property {Role} [role]
 * @property {boolean} [hasCode] True if the user signs in with a one-time code.
 * @property {boolean} [sandbox] True if the platform is simulated, with a phone that can scan.
 * @property {string} [sandboxPage] The address of the simulated phones; '' with the real platform.
 * @property {string} [version]
 * @property {ClientVersion} [clientVersion] The version of the web client that new connections use.
 * @property {boolean} [cluster] True if there are several nodes.
 * @property {readonly string[]} [eventTypes] The types of events that a webhook can choose.
 * @property {readonly string[]} [messageFilters] The filters of messages that a webhook can choose.
 * @property {readonly string[]} [streamTypes] The types of events that a stream can choose.
 */

/** The sign-in; null until the server has answered. */
export const session = signal(/** @type {Session | null} */ (null));

/** True if the sign-in expired. The sign-in view shows this. */
export const expired = signal(false);

/** True while the view stays although the sign-in expired, because it has a form with text. */
export const isKept = signal(false);

/** Sends the held requests of a view that stayed, or refuses them. @type {(isSame: boolean) => void} */
let release = () => undefined;

/** @param {Session} next */
const enter = (next) => {
  const isSame = next.user === session.value?.user && next.role === session.value?.role;
  batch(() => {
    session.value = next;
    expired.value = false;
    isKept.value = false;
  });
  release(isSame);
};

/** Loads the sign-in from the server. Throws an ApiError if the server does not answer. */
export const loadSession = async () => {
  session.value = await get('/admin/session');
};

/**
 * Signs in with the admin token. Throws an ApiError: 401 or 403 for a wrong token, 429 after too many wrong tokens.
 * @param {string} token
 */
export const signIn = async (token) => {
  enter(await call('POST', '/admin/session', { headers: { admintoken: token } }));
};

/**
 * Signs in as a user. Throws an ApiError: 403 for a wrong name, password or code, 429 after too many failures.
 * @param {{ name: string, password: string, code: string }} credentials
 */
export const signInAs = async (credentials) => {
  enter(await call('POST', '/admin/session/user', { body: credentials }));
};

/** The roles, from the role with the fewest rights to the role with the most rights. @type {readonly Role[]} */
export const roles = ['viewer', 'operator', 'administrator'];

/**
 * Returns true if the user has the rights of this role. The page hides actions that the server would refuse.
 * @param {Role} least
 */
export const may = (least) => roles.indexOf(session.value?.role ?? 'administrator') >= roles.indexOf(least);

/** Signs out and reloads the page, so that the page has no more data in its memory. */
export const signOut = async () => {
  await call('DELETE', '/admin/session').catch(() => undefined);
  location.assign('/admin');
};

whenSignedOut(() => {
  const ended = session.value;
  if (ended?.signedIn !== true) return;
  const hasInput = isGuarded();
  if (hasInput) holdRequests(new Promise((resolve) => void (release = resolve)));
  batch(() => {
    isKept.value = hasInput;
    expired.value = true;
    session.value = { ...ended, signedIn: false };
  });
});
