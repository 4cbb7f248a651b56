/** Reports the state of every instance and the steps to that state, with or without actors. No method makes an actor. */
import { done, type InstanceId, naturalKey, refuse, type Result, unknownInstance } from '../model.ts';
import type { LogLevels, Ports, Time } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { noRoom } from '../session/hibernation.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { ActorDetail, ActorPage, ActorQuery, ActorRow, ActorSort, Step } from '../views/inspector.ts';
import { type CampaignsAtWork, hourOf, letterOf, type LightRow, liveRow, outboxOf, partsOf, restingHour, restingRow } from './rows.ts';
import type { StepLog } from './step-log.ts';
import { countsOf } from './watchers.ts';

// Pages the list of instances. Rows are filtered, sorted, and cut by a cursor that stays valid while rows change.

/** The sort key of a row. Its last part is the id, so that no two keys are equal. */
type Key = readonly (string | number)[];

/** Returns the rank of a row by its trouble; 0 is the worst. */
const troubleOf = ({ needsPerson, status, state, reason, queue }: LightRow): number => {
  if (needsPerson || state === 'crashed') return 0;
  if (reason !== '') return 1;
  if (status === 'connecting') return 2;
  if (queue > 0) return 3;
  return { connected: 4, connecting: 2, disconnected: 5, hibernated: 6 }[status];
};

const keys: Readonly<Record<ActorSort, (row: LightRow, outbox: (row: LightRow) => number) => Key>> = {
  trouble: (row) => [troubleOf(row), naturalKey(row.name)],
  name: (row) => [naturalKey(row.name)],
  state: (row) => [row.status, row.state, naturalKey(row.name)],
  since: (row) => [row.since],
  lastEvent: (row) => [row.lastEvent],
  queue: (row) => [row.queue],
  outbox: (row, outbox) => [outbox(row)],
};

const compare = (a: Key, b: Key): number => {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other !== undefined && one !== other) return one < other ? -1 : 1;
  }
  return 0;
};

const cursorOf = (key: Key): string => Buffer.from(JSON.stringify(key)).toString('base64url');

const keyIn = (cursor: string): Key | null => {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(key) && key.every((part) => typeof part === 'string' || typeof part === 'number') ? key : null;
  } catch {
    return null;
  }
};

const isOfState = ({ status, state, needsPerson }: LightRow, wanted: string): boolean => {
  if (wanted === 'needsPerson') return needsPerson;
  return wanted === status || wanted === state || state.startsWith(`${wanted}.`);
};

const fits = (row: LightRow, { states, causes, text }: ActorQuery): boolean => {
  if (states.length > 0 && !states.some((state) => isOfState(row, state))) return false;
  if (causes.length > 0 && !causes.includes(row.cause)) return false;
  if (text === '') return true;
  const { id, name, number, state, reason } = row;
  return [id, name, number, state, reason].some((part) => part.toLowerCase().includes(text));
};

/** Returns a page of the rows. `outbox` returns the number of waiting deliveries of a row, and is called only if the rows are sorted by this number. */
function pageOf(rows: readonly LightRow[], query: ActorQuery, outbox: (row: LightRow) => number) {
  const after = query.after === '' ? [] : keyIn(query.after);
  if (after === null) return refuse('invalid', 'after is no cursor of this list: use the `next` of the previous page');
  const direction = query.descending ? -1 : 1;
  const ordered = (a: Key, b: Key): number => compare(a, b) * direction;
  const keyOf = keys[query.sort];
  const wanted = { ...query, text: query.text.toLowerCase() };
  const fitting = rows.filter((row) => fits(row, wanted));
  const keyed = fitting.map((row) => ({ row, key: [...keyOf(row, outbox), row.id] }));
  const rest = keyed.filter(({ key }) => after.length === 0 || ordered(key, after) > 0).toSorted((a, b) => ordered(a.key, b.key));
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const next = rest.length > page.length && last ? cursorOf(last.key) : '';
  return done({ total: fitting.length, rows: page.map(({ row }) => row), next }) satisfies Result<unknown>;
}

interface InspectionInput {
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  readonly time: Time;
  readonly logLevels: LogLevels;
  readonly platform: Pick<Ports['platform'], 'picture'>;
  readonly stepLog: Pick<StepLog, 'before'>;
  /** Returns null if no campaign of the instance is under way. */
  campaigns(id: InstanceId): CampaignsAtWork | null;
  /** Returns true if the hibernated session is due to wake, and the cap of connected sessions leaves no room. */
  waitsForRoom(id: InstanceId): boolean;
  /** The start of this process. In Unix milliseconds. */
  readonly since: number;
  /** The length of the pause of a chart that crashed too often. In milliseconds. */
  readonly cooldown: number;
}

/** Returns the time of the next automatic attempt, or null. In Unix milliseconds. */
const retryAt = (cell: Cell, { state, since }: LightRow, cooldown: number): number | null => {
  if (state === 'failed') return cell.supervision.crashedAt + cooldown;
  const context = cell.lifecycle?.context;
  if (!context) return null;
  if (state === 'disconnected.suspended') return context.verdict?.until ?? null;
  return /\.(waiting|\w+Later)$/.test(state) ? since + context.retryInMs : null;
};

/** The answers of other nodes of a cluster. */
export interface RowsElsewhere {
  readonly rows: ReadonlyMap<InstanceId, ActorRow>;
  /** Names of the nodes that did not answer. */
  readonly silent: readonly string[];
  /** Returns the name of this node if it owns the instance, else ''. For instances outside of these rows. */
  ownerOf(id: InstanceId): string;
}

/** The number of instances per turn of the event loop. */
const perTurn = 500;

/** The largest number of steps of one instance, including steps of earlier processes. */
const mostSteps = 100;

/** The fields that an instance without actors does not have. */
const atRest = { root: 'resting', attempts: 0, failures: 0, retryAt: null, lastFrameAge: null, crashes: 0, parts: [] };

export class Inspection {
  readonly #input: InspectionInput;

  constructor(input: InspectionInput) {
    this.#input = input;
  }

  /** Returns a page of rows. The rows are gathered in slices, so that ten thousand rows do not block the event loop. */
  async page(query: ActorQuery, elsewhere?: RowsElsewhere): Promise<Result<ActorPage>> {
    const rows: LightRow[] = [];
    for (const [index, id] of [...this.#input.registry.ids].entries()) {
      if (index % perTurn === perTurn - 1) await this.#input.time.turn();
      const row = elsewhere?.rows.get(id) ?? this.row(id);
      if (row) rows.push(row);
    }
    const ownerOf = (id: InstanceId): string | undefined => elsewhere?.rows.get(id)?.node ?? elsewhere?.ownerOf(id);
    const { node } = query;
    const asked = node === undefined || !elsewhere ? rows : rows.filter(({ id }) => ownerOf(id) === node);
    const page = pageOf(asked, query, (row) => elsewhere?.rows.get(row.id)?.outbox ?? this.#outbox(row));
    if (!page.ok) return page;
    const whole = page.value.rows.map(
      (row) => elsewhere?.rows.get(row.id) ?? { ...this.wholeRow(row), ...(elsewhere && { node: elsewhere.ownerOf(row.id) }) },
    );
    return done({ ...page.value, rows: whole, counts: countsOf(rows), ...(elsewhere && { silent: elsewhere.silent }) });
  }

  async detail(id: InstanceId): Promise<Result<ActorDetail>> {
    const { registry, dispatcher, time, logLevels, cooldown, campaigns } = this.#input;
    const light = this.row(id);
    if (!light) return unknownInstance;
    const [row, wanted, cell] = [this.wholeRow(light), registry.record(id)?.wanted ?? 'offline', registry.cells.get(id)];
    const logLevel = logLevels.of(id);
    if (!cell) return done({ ...row, ...atRest, wanted, logLevel, steps: await this.#allSteps(id, []) });
    const { attempts, crashes, lastFrameAgeMs: lastFrameAge } = cell.numbers;
    return done({
      ...row,
      root: cell.supervision.state,
      wanted,
      attempts,
      failures: cell.lifecycle?.context.failures ?? 0,
      retryAt: retryAt(cell, row, cooldown),
      lastFrameAge,
      crashes,
      logLevel,
      parts: partsOf(cell, row.state, { dispatcher, campaigns: campaigns(id), now: time.now() }),
      steps: await this.#allSteps(id, cell.steps.after(0)),
    });
  }

  /** Returns the picture of the account; null without one, or if the instance is gone. */
  picture(id: InstanceId): ReturnType<InspectionInput['platform']['picture']> {
    return this.#input.registry.record(id) === undefined ? null : this.#input.platform.picture(id);
  }

  /** Returns the whole row of an instance; null if the instance is gone. */
  rowOf(id: InstanceId): ActorRow | null {
    const row = this.row(id);
    return row && this.wholeRow(row);
  }

  *rows(): Generator<LightRow> {
    for (const id of this.#input.registry.ids) {
      const row = this.row(id);
      if (row) yield row;
    }
  }

  row(id: InstanceId): LightRow | null {
    const { registry } = this.#input;
    const cell = registry.cells.get(id);
    const record = registry.record(id);
    const row = cell ? liveRow(cell) : record ? restingRow(record) : null;
    return row && this.#withReceivers(this.#withRoom(row));
  }

  wholeRow(row: LightRow): ActorRow {
    const { registry, time, since, platform } = this.#input;
    const [cell, now] = [registry.cells.get(row.id), time.now()];
    const hour = cell ? hourOf(cell.steps, now) : restingHour(row.needsPerson ? 'p' : letterOf(row.state), since, now);
    return { ...row, outbox: this.#outbox(row), hour, picture: platform.picture(row.id)?.tag ?? '' };
  }

  /** Adds the reason why a hibernated session does not wake although it is due. */
  #withRoom(row: LightRow): LightRow {
    const isRoomless = row.status === 'hibernated' && this.#input.waitsForRoom(row.id);
    return isRoomless ? { ...row, reason: noRoom, cause: 'noRoom' } : row;
  }

  /** Marks an instance with a failing receiver as needing a person. The needs of the session itself come first. */
  #withReceivers(row: LightRow): LightRow {
    const { dispatcher } = this.#input;
    const webhook = row.needsPerson ? null : dispatcher.failing(row.id);
    if (webhook === null) return row;
    const { lastError } = dispatcher.health(webhook.id)?.report ?? {};
    const reason = `the receiver ${URL.parse(webhook.url)?.host ?? ''} fails: ${lastError?.error ?? ''}`;
    return { ...row, needsPerson: true, reason, cause: 'receiverFailed' };
  }

  /**
   * Returns the last steps, including those of earlier processes. If memory has already dropped the first steps of this process, the steps of earlier processes
   * are left out, because the dropped steps would be a gap in the list.
   */
  async #allSteps(id: InstanceId, steps: readonly Step[]): Promise<readonly Step[]> {
    const isWhole = steps.length === 0 || steps[0]?.n === 1;
    const former = isWhole ? await this.#input.stepLog.before(id, steps[0]?.at ?? Infinity) : [];
    return [...former, ...steps].slice(-mostSteps);
  }

  #outbox({ id }: LightRow): number {
    const { registry, dispatcher } = this.#input;
    return outboxOf(id, registry.cells.get(id), dispatcher);
  }
}
