/** Rate limits: requests per second of one instance token, and wrong tokens per minute of one address. */
import rateLimit, { type CreateRateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from './client-address.ts';
import { sendRefusal } from './errors.ts';
import { GuessLimit } from './guess-limit.ts';
import type { HttpOptions } from './options.ts';

declare module 'fastify' {
  interface FastifyInstance {
    authenticationLimit: AuthenticationLimit;
  }
}

/** Seconds until the next request is taken; null when this one is. */
type Wait = number | null;

/** Tries of one kind of token, by the network of the request. */
export interface Tries {
  /** Must be called before a token is looked at. */
  take(request: FastifyRequest): Wait;
  /** The token was right, or could not be looked up. */
  giveBack(request: FastifyRequest): void;
}

export interface AuthenticationLimit {
  readonly admin: Tries;
  readonly instance: Tries;
}

const unlimited: Tries = { take: () => null, giveBack: () => undefined };

/** `max`: wrong guesses of one network within a minute; 0 is no limit. */
export const triesOf = (max: number): Tries => {
  if (max === 0) return unlimited;
  const limit = new GuessLimit(max);
  return {
    take: ({ ip }) => limit.take(networkOf(ip), performance.now()),
    giveBack: ({ ip }) => limit.giveBack(networkOf(ip)),
  };
};

/**
 * Looks up a guess when a try is free, and answers with the seconds to wait when none is. What is wrong keeps its try. A database that is away makes no
 * guess wrong.
 */
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

/** Tokens whose counts are kept, the latest ones first. Each takes some 100 bytes. */
const remembered = 20_000;

/**
 * Must be called before `guardRoutes`, which takes tries. Over the limit no admin token is looked at: one that a person chose could be guessed. Tokens of
 * instances are 40 random characters, so a right one may always come in, and a forgotten client locks out nobody behind the same proxy.
 */
export const limitAuthentication = async (
  app: FastifyInstance,
  { authFailuresPerMinute: max }: HttpOptions,
): Promise<AuthenticationLimit> => {
  await app.register(rateLimit, { global: false, cache: remembered });
  const limit = { admin: triesOf(max), instance: triesOf(max) };
  app.decorate('authenticationLimit', limit);
  return limit;
};

/** Must be called after `guardRoutes`: it counts by the instance that was found. */
export const limitRequests = (app: FastifyInstance, { requestsPerSecond: max }: HttpOptions): void => {
  if (max === 0) return;
  const check = checkOf(app, { max, timeWindow: 1_000, keyGenerator: ({ instanceId }) => instanceId });
  app.addHook('onRequest', async (request, reply) => {
    const wait = request.instanceId === '' ? null : await check(request);
    return wait === null ? undefined : refuseTooMany(reply, wait);
  });
};
