/** Tells a database that is away, slow or full from a mistake of ours, whichever layer reports it. */
import { StorageBusy, StorageFailure, StorageSlow, StorageUnavailable } from '#actors/ports.ts';

/** The server is going, or ended the connection: connection exceptions, operator intervention, a standby, a transaction that fell silent. */
const awayStates = /^(08|57P|25006|25P0[34])/;

/** The server is there and does not let us in: a password that was changed, a role that was locked, a database that is being restored. */
const refusals = /^(28|3D)/;

/** A statement was stopped at its time limit, or by an operator; a lock was not free in time. */
const slowStates = /^(57014|55P03)/;

/** No room: disk, memory, connections of the server. */
const fullStates = /^53/;

/** Two transactions wanted the same rows in another order: one of them was rolled back. */
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

/** The driver gives no code to these. A read that times out has outlived the server's own limit, so the server does not answer at all. */
const awayTexts = /connection (terminated|ended)|not queryable|query read timeout|client was closed|after calling end/i;

/** The pool's text when a caller waited too long for a free connection; one that cannot be opened in time has another text. */
const fullTexts = /timeout exceeded when trying to connect/i;

interface DriverError extends Error {
  readonly code?: string;
  readonly constraint?: string;
}

const chain = (error: unknown): readonly DriverError[] =>
  error instanceof Error ? [error, ...(error instanceof AggregateError ? error.errors.flatMap(chain) : []), ...chain(error.cause)] : [];

type Kind = 'away' | 'slow' | 'full' | 'conflict';

const kindOf = ({ code, message }: DriverError): Kind | null => {
  if (code === undefined) return fullTexts.test(message) ? 'full' : awayTexts.test(message) ? 'away' : null;
  if (networkCodes.has(code) || awayStates.test(code) || refusals.test(code)) return 'away';
  if (slowStates.test(code)) return 'slow';
  if (conflictStates.test(code)) return 'conflict';
  return fullStates.test(code) ? 'full' : null;
};

/** A code says it all, except to an operator whom the server does not know. */
const nameOf = ({ code, message }: DriverError): string => (code === undefined || refusals.test(code) ? message : code);

const sentences: Readonly<Record<Kind, (name: string, cause: unknown) => StorageFailure>> = {
  away: (name, cause) => new StorageUnavailable(`the database is not available: ${name}`, { cause }),
  slow: (name, cause) => new StorageSlow(`the database took too long: ${name}`, { cause }),
  full: (name, cause) => new StorageBusy(`the database takes no more work: ${name}`, { cause }),
  conflict: (name, cause) => new StorageBusy(`the database met one conflict after the other: ${name}`, { cause }),
};

/** `error` itself, or a `StorageFailure` when the database is what is wrong. */
export const explained = (error: unknown): unknown => {
  if (error instanceof StorageFailure) return error;
  for (const one of chain(error)) {
    const kind = kindOf(one);
    if (kind !== null) return sentences[kind](nameOf(one), error);
  }
  return error;
};

const stateOf = (error: unknown): string => chain(error).find(({ code }) => code !== undefined)?.code ?? '';

/** Everything was rolled back: doing it again at once is right. */
export const isConflict = (error: unknown): boolean => conflictStates.test(stateOf(error));

/** Somebody else has just stored a row of the same key. */
export const isDuplicate = (error: unknown): boolean => stateOf(error) === '23505';

/** A row refers to something that is gone: an instance or a webhook that was just removed. */
export const isOrphan = (error: unknown): boolean => stateOf(error) === '23503';
