/** How a session is named and coloured, wherever it is shown. */
import { t } from '../texts.js';

/** @import { Group, Row, Status } from './types.ts' */

/** In the order in which they are shown. @type {readonly Group[]} */
export const groups = ['connected', 'connecting', 'hibernated', 'disconnected', 'person'];

/**
 * The colour and the sign of a session.
 * @param {{ readonly status: Status, readonly needsPerson: boolean }} row
 * @returns {Group}
 */
export const groupOf = ({ status, needsPerson }) => (needsPerson ? 'person' : status);

/**
 * The last part of a path as words, such as `logged out`.
 * @param {string} state
 */
export const leafOf = (state) => (state.split('.').at(-1) ?? '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * One word for the list.
 * @param {Pick<Row, 'state' | 'number'>} row
 */
export const wordOf = ({ state, number }) => {
  if (state !== 'disconnected.idle') return leafOf(state);
  return number === '' ? t('wordUnpaired') : t('state_disconnected');
};

/**
 * Where the picture of a session is; '' without one. The browser keeps it until there is another one.
 * @param {{ readonly id: string, readonly picture?: string }} row
 */
export const pictureOf = ({ id, picture = '' }) => (picture === '' ? '' : `/admin/actors/${encodeURIComponent(id)}/picture?of=${picture}`);

/**
 * Two letters in place of a picture.
 * @param {string} name
 */
export const initialsOf = (name) => {
  const words = name.trim().split(/\s+/);
  const [first = '', second = ''] = words.length > 1 ? [words[0], words[1]] : [name.trim().slice(0, 1), name.trim().slice(1, 2)];
  return `${[...first][0] ?? ''}${[...second][0] ?? ''}`.toUpperCase();
};

/** @type {Readonly<Record<string, Group>>} */
export const groupOfLetter = { c: 'connected', w: 'connecting', h: 'hibernated', d: 'disconnected', p: 'person' };

/** @type {Readonly<Record<Group, string>>} */
export const letterOf = { connected: 'c', connecting: 'w', hibernated: 'h', disconnected: 'd', person: 'p' };
