/** Actions on one session or on many: the call, the condition under which the action is offered, and the question before the call. */
import { call, post, textOfFailure } from '../core/api.js';
import { may } from '../core/session.js';
import { t } from '../texts.js';
import { ask, attempt, toast } from '../ui/asking.js';
import { needsPhone } from './words.js';

/** @import { Row } from './types.ts' */

/** The largest number of concurrent calls of a bulk action. The server also limits new connections itself. */
const atOnce = 4;

/** @typedef {'connect' | 'hibernate' | 'disconnect' | 'delete'} ActName */

/**
 * @typedef {object} Act
 * @property {(row: Pick<Row, 'status' | 'state' | 'linked'>) => boolean} fits
 * @property {boolean} asks True if the action cannot be undone in the dashboard, and is confirmed by a question.
 * @property {(id: string) => Promise<unknown>} run Throws an ApiError.
 */

/** @type {Readonly<Record<ActName, Act>>} */
export const acts = {
  connect: {
    fits: (row) => row.status === 'disconnected' || row.status === 'hibernated' || needsPhone(row),
    asks: false,
    run: (id) => post('/instance/connect', {}, { instance: id }),
  },
  hibernate: {
    fits: ({ status, linked }) => linked && (status === 'connected' || status === 'connecting'),
    asks: false,
    run: (id) => post('/instance/hibernate', {}, { instance: id }),
  },
  disconnect: {
    fits: ({ status, linked }) => status !== 'disconnected' || linked,
    asks: true,
    run: (id) => post('/instance/disconnect', {}, { instance: id }),
  },
  delete: { fits: () => true, asks: true, run: (id) => call('DELETE', '/instance', { instance: id }) },
};

/** @type {readonly ActName[]} */
export const actNames = ['connect', 'hibernate', 'disconnect', 'delete'];

/** Returns true if the role of the session allows the action. @param {ActName} name */
export const mayDo = (name) => may(name === 'delete' ? 'administrator' : 'operator');

/**
 * Returns the label of an action's button. `connect` also wakes a hibernated session, and starts the pairing of a session without credentials.
 * @param {ActName} name
 * @param {Pick<Row, 'status' | 'state' | 'linked'>} [row]
 */
export const actLabel = (name, row) => {
  if (name !== 'connect' || row === undefined) return t(`act_${name}`);
  if (needsPhone(row)) return t('linkPhone');
  return t(row.status === 'hibernated' ? 'act_wake' : 'act_connect');
};

/**
 * Runs an action, after a question if the action cannot be undone. Resolves with true if the action succeeded.
 * @param {ActName} name
 * @param {Pick<Row, 'id' | 'name' | 'status'>} row
 */
export const act = async (name, row) => {
  const values = { name: row.name };
  if (acts[name].asks) {
    const question = { title: t(`ask_${name}`, values), text: t(`ask_${name}_text`), yes: actLabel(name), danger: true };
    if (!(await ask(/** @type {import('../ui/asking.js').Question} */ (question)))) return false;
  }
  const done = await attempt(
    async () => {
      await acts[name].run(row.id);
      return true;
    },
    t(name === 'connect' && row.status === 'hibernated' ? 'done_wake' : `done_${name}`, values),
  );
  return done === true;
};

/**
 * Asks one question, and then runs an action on many sessions, several at a time. Resolves when all calls have ended.
 * @param {ActName} name
 * @param {readonly Row[]} rows
 * @param {{ readonly onDone?: (id: string) => void, readonly signal?: AbortSignal, readonly onProgress?: (done: number, of: number) => void }} [options]
 */
export const actOnAll = async (name, rows, { onDone = () => undefined, signal, onProgress = () => undefined } = {}) => {
  // A session without credentials needs a phone, so a bulk action does not connect it.
  const fitting = rows.filter((row) => acts[name].fits(row) && (name !== 'connect' || row.linked));
  const values = { n: fitting.length };
  if (fitting.length === 0) return toast(t('bulkNone', { act: actLabel(name).toLowerCase() }), 'bad');
  const question = { title: t(`askAll_${name}`, values), text: t(`askAll_${name}_text`, values), yes: t(`askAll_${name}_yes`, values) };
  if (!(await ask({ ...question, danger: acts[name].asks }))) return undefined;
  let [done, refused, why] = [0, 0, ''];
  const waiting = [...fitting];
  signal?.addEventListener('abort', () => waiting.splice(0));
  const work = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      try {
        await acts[name].run(row.id);
        onDone(row.id);
        done += 1;
      } catch (error) {
        refused += 1;
        why = textOfFailure(error);
      }
      onProgress(done + refused, fitting.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (refused === 0) return toast(t('bulkDone', { n: done }));
  return toast(t('bulkRefused', { n: done, refused, why }), 'bad');
};
