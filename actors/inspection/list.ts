/** Pages the list of instances. Rows are filtered, sorted, and cut by a cursor that stays valid while rows change. */
import type { ActorQuery, ActorSort } from '../views/inspector.ts';
import { refuse, done, type Result } from '../model.ts';
import type { LightRow } from './rows.ts';

/** The sort key of a row. Its last part is the id, so that no two keys are equal. */
type Key = readonly (string | number)[];

/** Ranks rows by trouble, worst first. */
const troubleOf = ({ needsPerson, status, state, reason, queue }: LightRow): number => {
  if (needsPerson || state === 'crashed') return 0;
  if (reason !== '') return 1;
  if (status === 'connecting') return 2;
  if (queue > 0) return 3;
  return { connected: 4, connecting: 2, disconnected: 5, hibernated: 6 }[status];
};

const keys: Readonly<Record<ActorSort, (row: LightRow, outbox: (row: LightRow) => number) => Key>> = {
  trouble: (row) => [troubleOf(row), row.name.toLowerCase()],
  name: (row) => [row.name.toLowerCase()],
  state: (row) => [row.status, row.state, row.name.toLowerCase()],
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

/** Returns a page. `outbox` is called only if the rows are sorted by this number. */
export function pageOf(rows: readonly LightRow[], query: ActorQuery, outbox: (row: LightRow) => number) {
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
