/** Limits the cost of bodies: the bytes of all bodies in memory, and the depth and number of values in each. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkOf } from './client-address.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route reads the body as a stream. */
    readsBytes?: boolean;
  }
}

/** 401, 403 and 404: the credential became invalid before the end of the body. */
type BodyStatus = 400 | 401 | 403 | 404 | 413 | 415 | 429;

/** The error for a body that is refused. The error handler answers with the status of this error. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly statusCode: BodyStatus;
  constructor(statusCode: BodyStatus, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** The largest number of nested levels in a body. Bodies of the interface have fewer than ten levels. */
export const deepest = 100;

/**
 * Largest number of values in one body. A campaign of 100,000 messages has ten values for each message. A million empty lists need 45 MB. A million
 * distinct field names cost 4 s of processor time at worst.
 */
export const mostValues = 1_000_000;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns the position of the quotation mark that ends a string. `at` is the position after the first quotation mark. */
const endOfString = (bytes: Buffer, at: number): number => {
  const first = bytes.indexOf(quote, at);
  if (first === -1) return bytes.length;
  if (bytes[first - 1] !== backslash) return first;
  // A string with escaped quotation marks is read byte by byte. One search for each mark would need more time.
  let index = at;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return index;
};

/**
 * Throws for a body whose parsing would need seconds or gigabytes. For example, 50 MB of opening brackets needed 27 s and 3 GB. The bytes need not be valid
 * JSON.
 */
export const checkShape = (bytes: Buffer): void => {
  let depth = 0;
  let values = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) index = endOfString(bytes, index + 1);
    else if (byte === closeList || byte === closeObject) depth -= 1;
    else if (byte === comma) values += 1;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      values += 1;
    }
    if (depth > deepest) throw new BodyError(400, `the body is nested deeper than ${deepest} levels`);
    if (values > mostValues) throw new BodyError(413, `the body has more than ${mostValues} values`);
  }
};

/** Counts the bytes of bodies in memory, for all callers together and for each caller. */
export class BodyBudget {
  readonly #ofCaller: number;
  readonly #ofAll: number;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(ofCaller: number, ofAll: number) {
    this.#ofCaller = ofCaller;
    this.#ofAll = ofAll;
  }

  /** Reserves the bytes. Returns false, and reserves none, if the budget does not have room for all of them. */
  take(caller: string, bytes: number): boolean {
    const own = (this.#held.get(caller) ?? 0) + bytes;
    if (own > this.#ofCaller || this.#all + bytes > this.#ofAll) return false;
    this.#held.set(caller, own);
    this.#all += bytes;
    return true;
  }

  giveBack(caller: string, bytes: number): void {
    const own = (this.#held.get(caller) ?? 0) - bytes;
    if (own > 0) this.#held.set(caller, own);
    else this.#held.delete(caller);
    this.#all -= bytes;
  }

  /** Returns the number of reserved bytes of all callers. */
  get held(): number {
    return this.#all;
  }
}

/** Largest length of a body that is not counted, in bytes. Only bodies that declare their length and have a credential are exempt. */
const small = 65_536;

/** The budgets of one caller and of all callers with a credential, as multiples of the largest body. */
const [largestOfCaller, largestOfCallers] = [2, 5];

/**
 * The budgets of one network and of all callers without a credential, as multiples of the largest body. The largest body has at least 2 MiB, so a network may
 * hold two bodies of the largest open route.
 */
const [largestOfNetwork, largestOfStrangers] = [0.25, 1];

const isSmall = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= small;

/** Methods whose bodies Fastify does not read. */
const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The time after which a refused client may try again. In seconds. */
const retryAfter = 2;

/**
 * Counts the bytes of bodies from their arrival until the answer has left, and refuses a body that exceeds the bounds. Must be called after
 * `guardRoutes`, which finds the caller. `largest` is the length of the largest body that a route accepts, in bytes.
 */
export const boundBodies = (app: FastifyInstance, largest: number): void => {
  const ofCallers = new BodyBudget(largestOfCaller * largest, largestOfCallers * largest);
  // Callers without a credential have a separate budget, so that they cannot use up the budget of all other callers.
  const ofStrangers = new BodyBudget(largestOfNetwork * largest, largestOfStrangers * largest);
  app.addHook('preParsing', (request, reply, payload, next) => {
    // A route that reads its body as a stream does not have the whole body in memory. Nobody reads the body of a GET or HEAD. An error on such a body would
    // have no listener.
    if (bodyless.has(request.method) || request.routeOptions.config.readsBytes === true) return next(null, payload);
    const isStranger = request.caller === null;
    if (!isStranger && isSmall(request)) return next(null, payload);
    const budget = isStranger ? ofStrangers : ofCallers;
    const caller = request.instanceId || networkOf(request.ip);
    let taken = 0;
    const count = (chunk: Buffer): void => {
      if (budget.take(caller, chunk.length)) return void (taken += chunk.length);
      payload.off('data', count);
      void reply.header('retry-after', String(retryAfter));
      // The reader of the body ends with this error. The bytes that still arrive are dropped, because the client would otherwise not read the answer.
      payload.emit('error', new BodyError(429, 'too many bytes of bodies are under way: try again'));
    };
    reply.raw.once('close', () => {
      payload.off('data', count);
      budget.giveBack(caller, taken);
      taken = 0;
    });
    payload.on('data', count);
    next(null, payload);
  });
};
