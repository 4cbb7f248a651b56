/** Actions on a session from its page. Every action reports its outcome and shows the new state. */
import { post } from '../core/api.js';
import { go } from '../core/router.js';
import { act as actOn, actLabel, acts as common, mayDo } from '../sessions/acts.js';
import { needsPhone } from '../sessions/words.js';
import { t } from '../texts.js';
import { attempt } from '../ui/asking.js';

/** @import { Live, Detail } from './live.js' */
/** @import { ActName } from '../sessions/acts.js' */

/**
 * Sends an event to the actors of a session, and loads the session again. The server logs the event.
 * @param {Live} live
 * @param {Record<string, string | number>} event
 * @param {string} done
 */
export const sendEvent = async (live, event, done) => {
  await attempt(() => post(`/admin/actors/${live.id}/events`, event), done);
  await live.load();
};

/** @param {Live} live @param {ActName} name */
export const actOnSession = async (live, name) => {
  const detail = live.detail.value;
  if (detail === null || !(await actOn(name, detail))) return;
  if (name === 'delete') go('/admin');
  else await live.load();
};

/** @typedef {{ text: string, kind?: string, run: (live: Live, link: () => void) => unknown }} Act `link`: opens the box that links a phone. */

/** @param {ActName} name @param {Detail} detail @param {string} [kind] @returns {Act} */
const shared = (name, detail, kind) => ({
  text: actLabel(name, detail),
  ...(kind === undefined ? {} : { kind }),
  run: (live) => actOnSession(live, name),
});

/** @param {string} type @param {string} text @param {string} done @param {string} [kind] @returns {Act} */
const event = (type, text, done, kind) => ({
  text,
  ...(kind === undefined ? {} : { kind }),
  run: (live) => sendEvent(live, { type }, done),
});

/** Returns the actions that fit the state of the session, the most likely action first. @param {Detail} detail @returns {readonly Act[]} */
export const actsFor = (detail) => {
  const { status, name } = detail;
  /** @type {Act[]} */
  const all = [];
  const isUnlinked = needsPhone(detail);
  if (isUnlinked) all.push({ text: t('linkPhone'), kind: 'main', run: (_live, link) => link() });
  else if (status === 'hibernated') all.push(event('wake', t('act_wake'), t('done_wake', { name }), 'main'));
  else if (status === 'disconnected') all.push(shared('connect', detail, 'main'));
  if (!isUnlinked && (status === 'connected' || status === 'connecting'))
    all.push(event('reconnect', t('reconnect'), t('reconnectDone', { name })));
  if (common.hibernate.fits(detail)) all.push(event('hibernate', t('act_hibernate'), t('done_hibernate', { name })));
  if (common.disconnect.fits(detail)) all.push(shared('disconnect', detail));
  return mayDo('delete') ? [...all, shared('delete', detail, 'danger')] : all;
};
