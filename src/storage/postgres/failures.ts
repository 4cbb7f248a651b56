/** Tells a database that is away from a mistake of ours, whichever layer reports it. */
import { StorageUnavailable } from '#actors/ports.ts';

/** SQLSTATE classes and codes after which the same work may succeed later: connection, resources, operator, time limits, rollback of a conflict. */
const passingStates = /^(08|53|57P|57014|25006|25P0[34]|40|55P03)/;

/** The server is there and does not let us in: a password that was changed, a role that was locked, a database that is being restored. */
const refusals = /^(28|3D)/;

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

/** The driver gives no code to these. */
const driverTexts =
  /connection (terminated|ended)|not queryable|timeout exceeded when trying to connect|query read timeout|client was closed|after calling end/i;

interface DriverError extends Error {
  readonly code?: string;
  readonly constraint?: string;
}

const chain = (error: unknown): readonly DriverError[] =>
  error instanceof Error ? [error, ...(error instanceof AggregateError ? error.errors.flatMap(chain) : []), ...chain(error.cause)] : [];

const isPassing = ({ code, message }: DriverError): boolean =>
  (code !== undefined && (networkCodes.has(code) || passingStates.test(code) || refusals.test(code))) || driverTexts.test(message);

/** A code says it all, except to an operator whom the server does not know. */
const nameOf = ({ code, message }: DriverError): string => (code === undefined || refusals.test(code) ? message : code);

/** `error` itself, or `StorageUnavailable` when the database is what is missing. */
export const explained = (error: unknown): unknown => {
  const passing = error instanceof StorageUnavailable ? undefined : chain(error).find(isPassing);
  return passing ? new StorageUnavailable(`the database is not available: ${nameOf(passing)}`, { cause: error }) : error;
};

const stateOf = (error: unknown): string => chain(error).find(({ code }) => code !== undefined)?.code ?? '';

/** Two transactions wanted the same rows in another order, or at once: doing it again is right. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01', '23505'].includes(stateOf(error));

/** A row refers to something that is gone: an instance or a webhook that was just removed. */
export const isOrphan = (error: unknown): boolean => stateOf(error) === '23503';
