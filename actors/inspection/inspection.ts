/** Reports the state of every instance and its way to that state, with or without actors. No method makes an actor. */
import type { ActorDetail, ActorPage, ActorQuery, ActorRow } from '../views/inspector.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import { done, unknownInstance, type InstanceId, type Result } from '../model.ts';
import type { LogLevels, Time } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Registry } from '../supervisor/registry.ts';
import { hourOf, letterOf, restingHour } from './hour.ts';
import { pageOf } from './list.ts';
import { outboxOf, partsOf, type CampaignsAtWork } from './parts.ts';
import { liveRow, restingRow, type LightRow } from './rows.ts';
import { countsOf } from './watchers.ts';

export interface InspectionInput {
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  readonly time: Time;
  readonly logLevels: LogLevels;
  /** Returns a version of the account's picture, or '' without one. The version changes with the picture. */
  picture(id: InstanceId): string;
  /** Returns null if no campaign of the instance is under way. */
  campaigns(id: InstanceId): CampaignsAtWork | null;
  /** Start of this process. In Unix milliseconds. */
  readonly since: number;
  /** Length of the rest of a chart that crashed too often. In milliseconds. */
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
  /** Returns the owner of an instance outside of these rows: this node, or ''. */
  ownerOf(id: InstanceId): string;
}

/** Instances per turn of the event loop. */
const perTurn = 500;

/** The fields that an instance without actors does not have. */
const atRest = { root: 'resting', attempts: 0, failures: 0, retryAt: null, lastFrameAge: null, crashes: 0, parts: [], steps: [] };

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
    const page = pageOf(rows, query, (row) => elsewhere?.rows.get(row.id)?.outbox ?? this.#outbox(row));
    if (!page.ok) return page;
    const whole = page.value.rows.map(
      (row) => elsewhere?.rows.get(row.id) ?? { ...this.wholeRow(row), ...(elsewhere && { node: elsewhere.ownerOf(row.id) }) },
    );
    return done({ ...page.value, rows: whole, counts: countsOf(rows), ...(elsewhere && { silent: elsewhere.silent }) });
  }

  detail(id: InstanceId): Result<ActorDetail> {
    const { registry, dispatcher, time, logLevels, cooldown, campaigns } = this.#input;
    const light = this.row(id);
    if (!light) return unknownInstance;
    const [row, wanted, cell] = [this.wholeRow(light), registry.record(id)?.wanted ?? 'offline', registry.cells.get(id)];
    const logLevel = logLevels.of(id);
    if (!cell) return done({ ...row, ...atRest, wanted, logLevel });
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
      steps: cell.steps.after(0),
    });
  }

  /** Returns null if the instance is gone. */
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
    return row && this.#withReceivers(row);
  }

  wholeRow(row: LightRow): ActorRow {
    const { registry, time, since, picture } = this.#input;
    const [cell, now] = [registry.cells.get(row.id), time.now()];
    const hour = cell ? hourOf(cell.steps, now) : restingHour(row.needsPerson ? 'p' : letterOf(row.state), since, now);
    return { ...row, outbox: this.#outbox(row), hour, picture: picture(row.id) };
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

  #outbox({ id }: LightRow): number {
    const { registry, dispatcher } = this.#input;
    return outboxOf(id, registry.cells.get(id), dispatcher);
  }
}
