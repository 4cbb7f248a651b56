/** The words, the colours and the initials of sessions, for all views. */
import { dayOrMinute, said, t } from '../texts.js';

/** @import { Group, Row, Status } from './types.ts' */

/** The groups in the order in which the page shows them. @type {readonly Group[]} */
export const groups = ['connected', 'connecting', 'hibernated', 'disconnected', 'person'];

/**
 * Returns the group of a session, which decides its colour and its icon.
 * @param {{ readonly status: Status, readonly needsPerson: boolean }} row
 * @returns {Group}
 */
export const groupOf = ({ status, needsPerson }) => (needsPerson ? 'person' : status);

/** Returns true if the session is being linked. @param {string} state */
export const isLinking = (state) => state === 'connecting.pairing' || state.startsWith('connecting.passkey');

/**
 * Returns true if only a phone can connect the session, because the session has no credentials and is disconnected or being linked.
 * @param {Pick<Row, 'status' | 'state' | 'linked'>} row
 */
export const needsPhone = ({ status, state, linked }) => !linked && (status === 'disconnected' || isLinking(state));

/**
 * Returns the last part of a state's path as words, such as `logged out`.
 * @param {string} state
 */
const leafOf = (state) => said((state.split('.').at(-1) ?? '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));

/**
 * Returns the word for the state of a session in the list.
 * @param {Pick<Row, 'state' | 'linked' | 'needsPerson' | 'cause'>} row
 */
export const wordOf = ({ state, linked, needsPerson, cause }) => {
  if (state !== 'disconnected.idle') return leafOf(state);
  // A logged-out or refused session starts in `idle` after a restart of the gateway, and still needs a person. `receiverFailed` concerns a webhook and not the session.
  if (needsPerson && cause !== 'receiverFailed') return leafOf(cause === 'loggedOut' ? 'loggedOut' : 'refused');
  return linked ? t('state_disconnected') : t('wordUnpaired');
};

/**
 * Returns the address of a session's picture; '' without one. The browser caches it until the picture changes.
 * @param {{ readonly id: string, readonly picture?: string }} row
 */
export const pictureOf = ({ id, picture = '' }) => (picture === '' ? '' : `/admin/actors/${encodeURIComponent(id)}/picture?of=${picture}`);

/** The texts of states whose text does not depend on the reason. @type {Readonly<Record<string, () => string>>} */
const plainReasons = {
  'connecting.pairing': () => t('whyPairing'),
  'connecting.admission': () => t('whyAdmission'),
  'hibernated.asleep': () => t('whyAsleep'),
};

/**
 * Returns the text of the column "why": the fault, the next step, or the reason why nothing needs to be done.
 * @param {Pick<Row, 'status' | 'state' | 'reason' | 'since' | 'linked'>} row
 */
export const whyOf = ({ status, state, reason, since, linked }) => {
  if (isLinking(state) && state !== 'connecting.pairing') return t('whyPasskey');
  if (reason !== '' && state !== 'connecting.pairing') return said(reason);
  const plain = plainReasons[state];
  if (plain !== undefined) return plain();
  if (status === 'connected') return since === 0 ? t('whyLive') : t('whyLiveSince', { time: dayOrMinute(since) });
  if (state === 'disconnected.idle') return t(linked ? 'whyOff' : 'whyUnlinked');
  return t(status === 'connecting' ? 'whyConnecting' : 'whyClosing');
};

/**
 * Returns true if the refusal of a send is about the recipient. The forms show such a refusal under the field of the number.
 * @param {string} sentence
 */
export const isAboutNumber = (sentence) => /number|account|group|chat/i.test(sentence);

/**
 * Returns up to two letters that are shown instead of a picture.
 * @param {string} name
 */
export const initialsOf = (name) => {
  // Format characters, such as those that change the direction of a text, are no letters.
  const words = name
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .split(/\s+/);
  const [first = '', second = ''] = words.length > 1 ? words : [...(words[0] ?? '')];
  return `${[...first][0] ?? ''}${[...second][0] ?? ''}`.toUpperCase();
};

/** @type {Readonly<Record<string, Group>>} */
export const groupOfLetter = { c: 'connected', w: 'connecting', h: 'hibernated', d: 'disconnected', p: 'person' };

/** @type {Readonly<Record<Group, string>>} */
export const letterOf = { connected: 'c', connecting: 'w', hibernated: 'h', disconnected: 'd', person: 'p' };
