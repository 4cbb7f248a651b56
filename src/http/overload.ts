/**
 * Refuses work before the event loop is lost: 503 with `Retry-After`, while the loop is later than the limit on the average of three seconds. Rows that say
 * `relieves` are always answered: they take load away, or show where it comes from.
 */
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { sendRefusal } from './errors.ts';
import type { HttpOptions } from './options.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is answered also while the server is overloaded. */
    relieves?: boolean;
  }
}

/** Milliseconds over which delays are averaged, long enough that one long pause, such as that of the start, is no overload. A client may come back after it. */
const sampleInterval = 3_000;

export const refuseOverload = async (app: FastifyInstance, { overloadLagMs, overloadSampleMs }: HttpOptions): Promise<void> => {
  await app.register(underPressure, {
    maxEventLoopDelay: overloadLagMs,
    sampleInterval: overloadSampleMs ?? sampleInterval,
    exposeStatusRoute: false,
    // A handler that answers nothing lets the request pass.
    pressureHandler: (request, reply) => {
      if (request.routeOptions.config.relieves === true) return;
      sendRefusal(reply, {
        reason: 'unavailable',
        message: 'the server is overloaded: try again later',
        retryAfter: sampleInterval / 1_000,
      });
    },
  });
};
