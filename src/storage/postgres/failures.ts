/** Classifies the errors of the database by their consequence, and ends statements whose answer was lost. */
import { setTimeout as wait } from 'node:timers/promises';
import { StorageBroken, StorageBusy, StorageFailure, StorageFull, StorageSlow, StorageUnavailable } from '#actors/ports.ts';
import { Mutex } from '#actors/waiting.ts';
import type { Client } from './orm.ts';

// The classification of errors.

/** Codes of a lost connection: connection exceptions, a shutdown, a standby, and time-outs of idle transactions. */
const awayStates = /^(08|57P|25006|25P0[34])/;

/** Codes of a server that refuses the login: a changed password, a locked role, a database that is being restored. */
const refusals = /^(28|3D)/;

/** Codes of a statement that was stopped at its time limit or by an operator, and of a lock that was not free in time. */
const slowStates = /^(57014|55P03)/;

/** Codes of a server without free memory or connections. */
const busyStates = /^53/;

/** The code of a full disk. */
const fullStates = /^53100/;

/** Codes of data exceptions and violated constraints. Only these errors mean that a value cannot be stored. */
const refusedStates = /^2[23]/;

/** The pattern of PostgreSQL's codes. Some codes of the operating system also have five letters. They begin with E, and no code of PostgreSQL does. */
const anyState = /^(?!E)[0-9A-Z]{5}$/;

/** Classes of codes whose messages name objects of the database and never values: features, names, resources, objects, files and internal errors. */
const namingStates = /^(0A|26|3F|42|53|54|55|58|XX)/;

/** Codes of a serialization failure and a deadlock, after which the server rolled back one of two transactions. */
const conflictStates = /^(40001|40P01)/;

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * Errors of a lost connection to which the driver gives no code. The driver waits longer than PostgreSQL's time limit for statements, so a time-out of the
 * driver means that PostgreSQL does not answer.
 */
const awayTexts = /connection (terminated|ended)|not queryable|query read timeout|client was closed|after calling end/i;

/** The text of the pool if no connection became free in time. */
const busyTexts = /timeout exceeded when trying to connect/i;

/** The text of the pool if the server did not answer a new connection in time. */
const unansweredTexts = /due to connection timeout/i;

interface DriverError extends Error {
  readonly code?: string;
  readonly constraint?: string;
}

const chain = (error: unknown): readonly DriverError[] =>
  error instanceof Error ? [error, ...(error instanceof AggregateError ? error.errors.flatMap(chain) : []), ...chain(error.cause)] : [];

type Kind = 'away' | 'slow' | 'busy' | 'full' | 'conflict' | 'broken';

const stateKinds: readonly (readonly [states: RegExp, kind: Kind | null])[] = [
  [awayStates, 'away'],
  [refusals, 'away'],
  [slowStates, 'slow'],
  [conflictStates, 'conflict'],
  [fullStates, 'full'],
  [busyStates, 'busy'],
  [refusedStates, null],
  [anyState, 'broken'],
];

const kindOf = ({ code, message }: DriverError): Kind | null => {
  if (code === undefined) return busyTexts.test(message) ? 'busy' : awayTexts.test(message) ? 'away' : null;
  if (networkCodes.has(code)) return 'away';
  return stateKinds.find(([states]) => states.test(code))?.[1] ?? null;
};

/**
 * Returns the code, with the server's message if messages of this code contain no values. For a refused login, and for an error without a code, returns only
 * the message.
 */
const nameOf = ({ code, message }: DriverError): string => {
  if (code === undefined || refusals.test(code)) return message;
  return namingStates.test(code) ? `${message} (${code})` : code;
};

const sentences: Readonly<Record<Kind, (name: string, cause: unknown) => StorageFailure>> = {
  away: (name, cause) => new StorageUnavailable(`the database is not available: ${name}`, { cause }),
  slow: (name, cause) => new StorageSlow(`the database took too long: ${name}`, { cause }),
  busy: (name, cause) => new StorageBusy(`the database takes no more work: ${name}`, { cause }),
  full: (name, cause) => new StorageFull(`the disk of the database is full: ${name}`, { cause }),
  conflict: (name, cause) => new StorageBusy(`the database met one conflict after the other: ${name}`, { cause }),
  broken: (name, cause) => new StorageBroken(`the database fails: ${name}`, { cause }),
};

/** Returns a `StorageFailure` if the database caused the error, and otherwise `error` itself. */
export const explained = (error: unknown): unknown => {
  if (error instanceof StorageFailure) return error;
  for (const one of chain(error)) {
    const kind = kindOf(one);
    if (kind !== null) return sentences[kind](nameOf(one), error);
  }
  return error;
};

/**
 * Explains an error of the driver. An unknown error counts as an unavailable database. An error of a refused value is returned unchanged, and so are
 * `TypeError` and `RangeError`, which the driver throws for invalid values.
 */
export const explainedOfDriver = (error: unknown): unknown => {
  const reason = explained(error);
  const isOurs = reason instanceof StorageFailure || reason instanceof TypeError || reason instanceof RangeError;
  if (isOurs || refusedStates.test(stateOf(error))) return reason;
  return sentences.away(chain(error).map(nameOf).at(0) ?? String(error), error);
};

const stateOf = (error: unknown): string => chain(error).find(({ code }) => code !== undefined)?.code ?? '';

/** Returns true if the server rolled back the transaction because of a conflict. The caller may retry at once. */
export const isConflict = (error: unknown): boolean => conflictStates.test(stateOf(error));

/** Returns true if the server did not answer a new connection in time. A busy server may answer the next attempt. */
export const isConnectTimeout = (error: unknown): boolean => chain(error).some(({ message }) => unansweredTexts.test(message));

/** Returns true if a lock was not free in time. */
export const isLockTimeout = (error: unknown): boolean => stateOf(error) === '55P03';

/** Returns true if another writer has just stored a row with the same key. */
export const isDuplicate = (error: unknown): boolean => stateOf(error) === '23505';

/** Returns true if a row refers to an instance or a webhook that was just deleted. */
export const isOrphan = (error: unknown): boolean => stateOf(error) === '23503';

// Statements whose answer was lost. The server may still execute such a statement after a later one, and restore an older state, such as
// an older ratchet. Therefore the pool ends the connections of such statements at the server before it runs other work.

/**
 * Ends connections of this database user only. After a switch to another server, the backend PID may belong to another user. PostgreSQL may also reuse
 * a PID for another connection of this user. Ending that connection is harmless, because its work is retried.
 */
const terminate = {
  name: 'doubtful-end',
  text: `select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1::int[]) and usename = current_user and pid <> pg_backend_pid()`,
};
const remaining = {
  name: 'doubtful-left',
  text: `select pid from pg_stat_activity where pid = any($1::int[]) and usename = current_user and pid <> pg_backend_pid()`,
};

/** The pause between two checks, and the limit for all checks. In milliseconds. */
const lookEvery = 10;
const patience = 2_000;

const endAll = async (client: Client, pids: readonly number[]): Promise<void> => {
  const values = [pids];
  await client.query({ ...terminate, values });
  for (let waited = 0; (await client.query({ ...remaining, values })).rows.length > 0; waited += lookEvery) {
    if (waited >= patience) throw new StorageUnavailable('a connection whose statement was not answered could not be ended');
    await wait(lookEvery);
  }
};

export class InDoubt {
  readonly #doubtful = new Set<number>();
  readonly #mutex = new Mutex();

  /** Adds a connection whose last statement had no answer. */
  add({ processID }: Client): void {
    if (typeof processID === 'number') this.#doubtful.add(processID);
  }

  /**
   * Ends all added connections at the server, over the connection `client`, and waits for their end. Rejects with `StorageUnavailable` if the server does
   * not end them in time.
   */
  settle(client: Client): Promise<void> {
    return this.#doubtful.size === 0 ? Promise.resolve() : this.#mutex.run(() => this.#settleAll(client));
  }

  async #settleAll(client: Client): Promise<void> {
    while (this.#doubtful.size > 0) {
      const pids = [...this.#doubtful];
      await endAll(client, pids);
      for (const pid of pids) this.#doubtful.delete(pid);
    }
  }
}
