/**
 * The live data of one session while its page is open: its state, its parts and its last steps. Steps arrive on a stream. All data are fetched after
 * each step and every few seconds. Nothing is fetched while the page is hidden.
 */
import { batch, signal } from '@preact/signals';
import { ApiError, bodyOf, get, send } from '../core/api.js';
import { follow } from '../core/stream.js';

/** @import { Step } from '../chart/scene.js' */
/** @import { Row } from '../sessions/types.ts' */
/** @import { Machine, Layout } from '../chart/words.js' */

/**
 * @typedef {object} Courier
 * @property {string} webhookId
 * @property {string} host
 * @property {{ used: number, of: number }} lanes
 * @property {{ open: boolean, failures: number, until: number }} circuit
 * @property {{ isFailing: boolean, delivered: number, attempts: number, lastError: { at: number, status: number, error: string } | null } | null} [health] The outcomes of the last hundred attempts.
 *
 * @typedef {object} Part
 * @property {string} id
 * @property {'ok' | 'busy' | 'off' | 'trouble'} state
 * @property {string} note
 * @property {number} waiting
 * @property {number} crashes
 * @property {Courier} [courier]
 *
 * @typedef {object} Inside The fields that `GET /admin/actors/{id}` adds to the row of the list. Times are Unix milliseconds.
 * @property {string} root
 * @property {string} wanted
 * @property {number} attempts
 * @property {number} failures
 * @property {number | null} retryAt
 * @property {number | null} lastFrameAge
 * @property {{ readonly level: string, readonly until: number } | null} logLevel The log level of this session; null if the session has the log level of the server.
 * @property {{ readonly node: string, readonly since: number, readonly cause: string, readonly answers: boolean } | null} [lease] The node that owns the session; absent on a single gateway.
 * @property {readonly Part[]} parts
 * @property {readonly Step[]} steps
 *
 * @typedef {Row & Inside} Detail
 *
 * @typedef {Machine & { readonly description: string, readonly layouts: Readonly<Record<string, Layout>> }} DrawnMachine
 */

const keptSteps = 100;
const refreshMs = 3_000;
/** The debounce of the request that follows a step, in milliseconds. */
const settleMs = 150;

/**
 * The time by which the clock of the server is ahead of the clock of the browser, in milliseconds; negative if it is behind. Ages use the server's clock,
 * because the clock of the browser may be wrong by hours.
 */
let aheadMs = 0;

/** The time of the server, which is updated every second while the page is visible. In Unix milliseconds. */
export const now = signal(Date.now());

/** @param {Response} response */
const setClock = (response) => {
  const at = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds, so a small difference counts as none.
  if (Number.isFinite(at)) aheadMs = Math.abs(at - Date.now()) > 2_500 ? at - Date.now() : 0;
};

/** @param {string} id @returns {Promise<Detail>} */
const loadDetail = async (id) => {
  const response = await send('GET', `/admin/actors/${id}`);
  setClock(response);
  const answer = await bodyOf(response);
  if (!response.ok) throw new ApiError(response.status, answer.error ?? String(response.status));
  return answer;
};

/** @type {Promise<readonly DrawnMachine[]> | null} */
let machines = null;

/** Loads the charts once, because they do not change while the server runs. @returns {Promise<readonly DrawnMachine[]>} */
const loadMachines = () => {
  machines ??= /** @type {Promise<readonly DrawnMachine[]>} */ (get('/admin/machines')).catch((error) => {
    machines = null;
    throw error;
  });
  return machines;
};

export class Live {
  detail = signal(/** @type {Detail | null} */ (null));
  charts = signal(/** @type {readonly DrawnMachine[]} */ ([]));
  steps = signal(/** @type {readonly Step[]} */ ([]));
  /** True while the stream is open and steps arrive at once. */
  isLive = signal(false);
  failure = signal(/** @type {unknown} */ (null));
  /** True while the box that links a phone is open. */
  isLinking = signal(false);
  /** The index of the step that the reader looks back to; null for the present. */
  back = signal(/** @type {number | null} */ (null));
  /**
   * Steps that arrived while the session was being loaded.
   * @type {Step[]}
   */
  #fresh = [];
  #isAsking = false;
  #isOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settling;

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /** Follows the steps of the session until the returned function is called. */
  followSteps() {
    const stop = follow(`/admin/actors/${this.id}/stream`, {
      onEvent: (type, data) => {
        if (type === 'step') this.#add(/** @type {Step} */ (data));
      },
      onState: (state) => {
        this.isLive.value = state === 'open';
        if (state === 'open') this.#loadSoon();
      },
      onRefused: () => {
        this.isLive.value = false;
      },
    });
    return () => {
      stop();
      this.isLive.value = false;
    };
  }

  /** Loads the session every few seconds until the returned function is called. */
  start() {
    const refresh = setInterval(() => void this.load(), refreshMs);
    const tick = setInterval(() => {
      if (!document.hidden) now.value = Date.now() + aheadMs;
    }, 1_000);
    this.#isOver = false;
    void this.load();
    return () => {
      this.#isOver = true;
      clearTimeout(this.#settling);
      clearInterval(refresh);
      clearInterval(tick);
    };
  }

  load = async () => {
    if (this.#isAsking || this.#isOver || document.hidden) return;
    this.#isAsking = true;
    this.#fresh = [];
    try {
      const [answer, drawn] = await Promise.all([loadDetail(this.id), loadMachines()]);
      const last = answer.steps.at(-1)?.n ?? 0;
      this.charts.value = drawn;
      this.#keep([...answer.steps, ...this.#fresh.filter(({ n }) => n > last)]);
      this.detail.value = answer;
      this.failure.value = null;
    } catch (error) {
      if (this.detail.value === null || (error instanceof ApiError && error.status === 404)) this.failure.value = error;
    } finally {
      this.#isAsking = false;
    }
  };

  /** Stores the last steps. The step that the reader looks back to stays selected when new steps arrive. @param {readonly Step[]} all */
  #keep(all) {
    const { steps, back } = this;
    const looked = back.value === null ? undefined : steps.value[back.value];
    const kept = all.slice(-keptSteps);
    const at = looked === undefined ? -1 : kept.findIndex((one) => one.n === looked.n && one.at === looked.at);
    batch(() => {
      steps.value = kept;
      if (looked !== undefined) back.value = Math.max(0, at);
    });
  }

  #loadSoon() {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.load(), settleMs);
  }

  /** @param {Step} step */
  #add(step) {
    if (this.#isAsking) this.#fresh.push(step);
    const last = this.steps.value.at(-1);
    if (last === undefined || step.n > last.n) this.#keep([...this.steps.value, step]);
    this.#loadSoon();
  }
}

/**
 * Returns the step whose reason explains a step. If the step ended work of the session itself, such as the closing of its connection, this is the earlier
 * step that began the work. The cause of this earlier step is a command, a close or a timer.
 * @param {Live} live
 * @param {Step | null} step
 */
export const leadingTo = ({ steps }, step) => {
  if (step?.cause.kind !== 'worker') return step;
  return steps.value.findLast(({ n, chart, cause }) => n < step.n && chart === step.chart && cause.kind !== 'worker') ?? step;
};

/** Returns the last step of a chart, up to the step that the reader looks back to; null if there is none. @param {Live} live @param {string} chart */
export const lastStepOf = ({ steps, back }, chart) => {
  const seen = back.value === null ? steps.value : steps.value.slice(0, back.value + 1);
  return seen.findLast((step) => step.chart === chart) ?? null;
};
