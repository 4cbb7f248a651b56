/**
 * Rate limits: requests per second of one instance token, and wrong credentials per minute of one network, with the log of these networks.
 */
import rateLimit from '@fastify/rate-limit';
import type { CreateRateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from './client-address.ts';
import { type AdminSessions, sessionNameOf, type SessionOwner } from './dashboard.ts';
import { sendRefusal } from './errors.ts';
import type { HttpLog, HttpOptions } from './options.ts';

// Limits wrong codes and tokens by the caller's network. A try is taken before the look-up, and refunded if the guess was right. If tries were taken after the
// look-up, concurrent requests could exceed the limit.

const windowMs = 60_000;
/** The largest number of networks in memory. A further network replaces the oldest one. Each network needs some 100 bytes. */
const remembered = 20_000;

interface Guesses {
  taken: number;
  /** The end of the window on the monotonic clock, in milliseconds. */
  readonly until: number;
}

export class GuessLimit {
  readonly #most: number;
  readonly #networks = new Map<string, Guesses>();

  /** Makes the limit. `most` is the number of wrong guesses of one network within a minute. Guesses that are still being looked up count too. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a try and returns null. If no try is free, counts nothing and returns the seconds until the next try is free. */
  take(network: string, now: number): number | null {
    const known = this.#networks.get(network);
    const tries = known !== undefined && known.until > now ? known : this.#begin(network, now);
    if (tries.taken >= this.#most) return Math.ceil((tries.until - now) / 1000);
    tries.taken += 1;
    return null;
  }

  /** Refunds one try of the network. The caller does this if the guess was right, or if the look-up failed. */
  giveBack(network: string): void {
    const tries = this.#networks.get(network);
    if (tries !== undefined && tries.taken > 0) tries.taken -= 1;
  }

  #begin(network: string, now: number): Guesses {
    const tries = { taken: 0, until: now + windowMs };
    this.#networks.delete(network);
    this.#networks.set(network, tries);
    const [oldest] = this.#networks.keys();
    if (this.#networks.size > remembered && oldest !== undefined) this.#networks.delete(oldest);
    return tries;
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    authenticationLimit: AuthenticationLimit;
  }
}

/** The time until a request is allowed; null if this request is allowed. In seconds. */
type Wait = number | null;

/** Tries of one kind of token, by the network of the request. */
export interface Tries {
  /** Counts a try. Call this before a token is looked up. */
  take(request: FastifyRequest): Wait;
  /** Refunds the try. Call this if the token was right, or could not be looked up. */
  giveBack(request: FastifyRequest): void;
}

export interface AuthenticationLimit {
  readonly admin: Tries;
  readonly instance: Tries;
  /**
   * Tries for cookies that name no session in the memory of this process. These tries are counted separately, so that a browser with an ended session does
   * not use up the tries of the admin token.
   */
  readonly session: Tries;
}

const unlimited: Tries = { take: () => null, giveBack: () => undefined };

/** Makes the tries of one kind of token. `max` is the number of wrong guesses of one network within a minute; 0 is no limit. */
export const triesOf = (max: number): Tries => {
  if (max === 0) return unlimited;
  const limit = new GuessLimit(max);
  return {
    take: ({ ip }) => limit.take(networkOf(ip), performance.now()),
    giveBack: ({ ip }) => limit.giveBack(networkOf(ip)),
  };
};

/** Looks up a guess if a try is free. Otherwise returns the seconds to wait. The try is refunded if the guess was right, or if the look-up failed. */
export const guessed = async <T>(
  tries: Tries,
  request: FastifyRequest,
  lookUp: () => Promise<T | null>,
): Promise<{ readonly wait: number } | { readonly found: T | null }> => {
  const wait = tries.take(request);
  if (wait !== null) return { wait };
  const found = await lookUp().catch((error: unknown) => {
    tries.giveBack(request);
    throw error;
  });
  if (found !== null) tries.giveBack(request);
  return { found };
};

/** Finds the session of a request. A session in memory costs no try, and a missing cookie costs none. Any other cookie costs a query. */
export const guessedSession = async (
  sessions: AdminSessions,
  { session }: AuthenticationLimit,
  request: FastifyRequest,
): Promise<{ readonly wait: number } | { readonly found: SessionOwner | null }> => {
  const name = sessionNameOf(request);
  const known = sessions.known(name);
  return known !== null || name === '' ? { found: known } : guessed(session, request, () => sessions.find(name));
};

export const refuseTooMany = (reply: FastifyReply, seconds: number): FastifyReply =>
  sendRefusal(reply, { reason: 'limited', message: 'Rate limit exceeded', retryAfter: seconds });

type Check = (request: FastifyRequest) => Promise<Wait>;

const checkOf = (app: FastifyInstance, options: CreateRateLimitOptions): Check => {
  const limiter = app.createRateLimit(options);
  return async (request) => {
    const state = await limiter(request);
    return state.isAllowed || !state.isExceeded ? null : state.ttlInSeconds;
  };
};

/**
 * Limits guesses. Call this before `guardRoutes`, which counts tries. Above the limit no admin token is checked, because a token that a person
 * chose could be guessed. A token of an instance has 40 random characters, so a valid token in the cache is accepted also above the limit. A
 * misconfigured client therefore does not lock out other clients behind the same proxy.
 */
export const limitAuthentication = async (
  app: FastifyInstance,
  { authFailuresPerMinute: max }: HttpOptions,
): Promise<AuthenticationLimit> => {
  await app.register(rateLimit, { global: false, cache: remembered });
  const limit = { admin: triesOf(max), instance: triesOf(max), session: triesOf(max) };
  app.decorate('authenticationLimit', limit);
  return limit;
};

/** Limits requests. Call this after `guardRoutes`, because requests are counted by instance. */
export const limitRequests = (app: FastifyInstance, { requestsPerSecond: max }: HttpOptions): void => {
  if (max === 0) return;
  const check = checkOf(app, { max, timeWindow: 1_000, keyGenerator: ({ instanceId }) => instanceId });
  app.addHook('onRequest', async (request, reply) => {
    const wait = request.instanceId === '' ? null : await check(request);
    return wait === null ? undefined : refuseTooMany(reply, wait);
  });
};

// Logs the origin of wrong credentials, so that the operator can see an attacker. The guessed values are never logged.

type GuessedKind = 'admin' | 'instance' | 'passkeyCode' | 'session' | 'signIn';

/** The period in which the guesses of a network become one line. In milliseconds. */
const period = 60_000;
/**
 * The largest number of networks with a separate line in a period. The guesses of all further networks share one line. This bounds memory and log in a
 * distributed attack.
 */
const mostNetworks = 100;
const others = 'others';

declare module 'fastify' {
  interface FastifyInstance {
    readonly noteGuess: NoteGuess;
  }
}

/** Notes the refused guess of a request. */
export type NoteGuess = (request: Pick<FastifyRequest, 'ip'>, kind: GuessedKind) => void;

/** The guesses that the log does not show yet. Writes `http.guessed` once a minute for each network and kind of credential. */
class GuessCounts {
  readonly #log: HttpLog;
  readonly #counts = new Map<string, { readonly address: string; readonly kind: GuessedKind; count: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: HttpLog) {
    this.#log = log;
  }

  add(ip: string, kind: GuessedKind): void {
    const network = networkOf(ip);
    const own = `${kind} ${network}`;
    const address = this.#counts.has(own) || this.#counts.size < mostNetworks ? network : others;
    const key = `${kind} ${address}`;
    const known = this.#counts.get(key) ?? { address, kind, count: 0 };
    known.count += 1;
    this.#counts.set(key, known);
    this.#timer ??= setTimeout(() => this.write(), period).unref();
  }

  write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { address, kind, count } of this.#counts.values()) this.#log.warn({ address, kind, count }, 'http.guessed');
    this.#counts.clear();
  }
}

/** Returns the function that notes guesses, and decorates the server with it. Writes the last lines when the server closes. */
export const logGuesses = (app: FastifyInstance, log: HttpLog): NoteGuess => {
  const counts = new GuessCounts(log);
  app.addHook('onClose', (_app, done) => {
    counts.write();
    done();
  });
  const note: NoteGuess = ({ ip }, kind) => counts.add(ip, kind);
  app.decorate('noteGuess', note);
  return note;
};
