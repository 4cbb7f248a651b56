/** The way of one connection to the platform, with all that it transfers; made at its open and ended with it. */
import type { Agent } from 'node:https';
import type { Dispatcher } from 'undici';
import type { Close } from '#actors/ports.ts';
import { isSilent } from '../wire/close-cause.ts';
import type { MediaTrust } from '../wire/trust.ts';
import { agentThrough, dispatcherThrough } from './agents.ts';
import { createTunnel, type ProxyGuard } from './tunnel.ts';

export interface LiveRoute {
  /** Agent of the WebSocket; undefined: none is needed. */
  readonly agent: Agent | undefined;
  /** Agent of the library's own uploads. */
  readonly fetchAgent: Agent | undefined;
  /** Dispatcher of the gateway's own transfers. */
  readonly dispatcher: Dispatcher | undefined;
  /** Dispatcher of downloads from hosts that only a message names. A proxy resolves the names itself. */
  readonly guarded: Dispatcher | undefined;
  /** Dispatcher of the library's downloads; undefined: that of the process. */
  readonly fetchDispatcher: Dispatcher | undefined;
  /** A close as it was seen, as what it is: the proxy's doing, where it was. */
  judged(close: Close): Close;
  /** Idempotent. */
  close(): void;
}

export const directRoute = (media: MediaTrust, dispatcher?: Dispatcher, guarded?: Dispatcher): LiveRoute => ({
  agent: undefined,
  fetchAgent: media?.uploads,
  dispatcher: media?.downloads ?? dispatcher,
  guarded: media?.downloads ?? guarded,
  fetchDispatcher: media?.downloads ?? dispatcher,
  judged: (close) => close,
  close: () => undefined,
});

export const proxyFailed = (what: string): Close => ({ code: null, message: what, data: { reason: 'proxyFailed' } });

export interface ProxyParts {
  readonly timeoutMs: number;
  /** For proxies that owners of instances name. */
  readonly guard: ProxyGuard;
}

export interface ProxyRouteInput extends Omit<ProxyParts, 'guard'> {
  readonly url: string;
  readonly guard: ProxyGuard | null;
  /** The platform's address is `wss:`. */
  readonly secure: boolean;
  readonly media: MediaTrust;
}

export const proxyRoute = ({ url, secure, media, timeoutMs, guard }: ProxyRouteInput): LiveRoute => {
  const tunnel = createTunnel({ url, timeoutMs, guard });
  let failure: string | null = null;
  const failed = (error: Error): void => {
    failure = error.message;
  };
  const dispatcher = dispatcherThrough(tunnel, media);
  return {
    agent: agentThrough(tunnel, { secure, failed }),
    fetchAgent: agentThrough(tunnel, { secure: true, ...(media === null ? {} : { ca: media.ca }) }),
    dispatcher,
    guarded: dispatcher,
    fetchDispatcher: dispatcher,
    judged(close) {
      if (failure !== null) return proxyFailed(failure);
      if (isSilent(close)) return proxyFailed('nothing came through it in time');
      // The platform says why it closes; a connection that only ends was cut on the way.
      return close.code === 428 ? proxyFailed('the connection through it broke off') : close;
    },
    close() {
      tunnel.close();
      dispatcher.destroy().catch(() => undefined);
    },
  };
};
