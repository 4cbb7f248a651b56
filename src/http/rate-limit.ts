/** Rate limits: requests per second of one instance token, and wrong tokens per minute of one address. */
import rateLimit, { type CreateRateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from './client-address.ts';
import { sendRefusal } from './errors.ts';
import type { HttpOptions } from './options.ts';

declare module 'fastify' {
  interface FastifyInstance {
    authenticationLimit: AuthenticationLimit;
  }
}

/** Seconds until the next request is taken; null when this one is. */
type Wait = number | null;

export interface AuthenticationLimit {
  /** Returns the wait of an address that failed too often with admin tokens. Counts nothing. */
  adminWait(request: FastifyRequest): Promise<Wait>;
  /** The same for tokens of instances. */
  instanceWait(request: FastifyRequest): Promise<Wait>;
  /** Counts a wrong or missing token. */
  failed(request: FastifyRequest, admin: boolean): Promise<Wait>;
}

const unlimited: AuthenticationLimit = { adminWait: async () => null, instanceWait: async () => null, failed: async () => null };

export const refuseTooMany = (reply: FastifyReply, seconds: number): FastifyReply =>
  sendRefusal(reply, { reason: 'limited', message: 'Rate limit exceeded', retryAfter: seconds });

type Check = (request: FastifyRequest, options?: { readonly increment: boolean }) => Promise<Wait>;

const checkOf = (app: FastifyInstance, options: CreateRateLimitOptions): Check => {
  const limiter = app.createRateLimit(options);
  return async (request, call) => {
    const state = await limiter(request, call);
    return state.isAllowed || !state.isExceeded ? null : state.ttlInSeconds;
  };
};

/** Most addresses and tokens in memory, latest first. Each takes about 100 bytes. */
const remembered = 20_000;

const limitOf = (app: FastifyInstance, max: number): AuthenticationLimit => {
  const window = { max, timeWindow: 60_000, keyGenerator: ({ ip }: FastifyRequest) => networkOf(ip) };
  const instance = checkOf(app, window);
  const admin = checkOf(app, window);
  // Over the limit no admin token is looked at: one that a person chose could be guessed. Tokens of instances are 40 random characters, so a right
  // one may always come in, and a forgotten client locks out nobody behind the same proxy.
  return {
    adminWait: (request) => admin(request, { increment: false }),
    instanceWait: (request) => instance(request, { increment: false }),
    failed: (request, isAdmin) => (isAdmin ? admin : instance)(request),
  };
};

/** Must be called before `guardRoutes`, whose refusals it counts. */
export const limitAuthentication = async (
  app: FastifyInstance,
  { authFailuresPerMinute: max }: HttpOptions,
): Promise<AuthenticationLimit> => {
  await app.register(rateLimit, { global: false, cache: remembered });
  const limit = max === 0 ? unlimited : limitOf(app, max);
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
