/** The route of one connection to the platform and of all its transfers. It begins and ends with the connection. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type Agent, type AgentOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Agent as TunnelDispatcher, buildConnector, type Dispatcher } from 'undici';
import type { Close } from '#actors/ports.ts';
import { isSilent } from '../wire/outcomes.ts';
import type { MediaTrust } from '../wire/trust.ts';
import { type ProxyGuard, Tunnel } from './tunnel.ts';

// Adapters of a tunnel for the WebSocket, the library's uploads and undici.

interface Wanted {
  readonly host?: string | null | undefined;
  readonly port?: string | number | null | undefined;
  readonly servername?: string | undefined;
  readonly ca?: string | undefined;
}

type Created = (error: Error | null, stream?: Duplex) => void;

/** Returns a `createConnection` function for Node's agents. `failed` gets each failure of the tunnel. */
const creator =
  (tunnel: Tunnel, secure: boolean, failed: (error: Error) => void) =>
  ({ host, port, servername, ca }: Wanted, created: Created): undefined => {
    const name = host ?? '';
    const give = (socket: Socket): void => {
      if (!secure) {
        created(null, socket);
        // After the exchange with the proxy the socket is paused. It resumes after the client has attached its listeners.
        setImmediate(() => socket.resume());
        return;
      }
      // An IP address is no valid server name in a TLS handshake.
      const sni = servername || (isIP(name) > 0 ? '' : name);
      created(null, connectTls({ socket, ...(sni === '' ? {} : { servername: sni }), ...(ca === undefined ? {} : { ca }) }));
    };
    tunnel.connect({ host: name, port: Number(port) || (secure ? 443 : 80) }).then(give, (error: Error) => {
      failed(error);
      created(error);
    });
  };

/** Makes an agent for Node's own clients. It has no keep-alive, so each connection ends with its request. */
export const agentThrough = (
  tunnel: Tunnel,
  { secure, ca, failed = () => undefined }: { readonly secure: boolean; readonly ca?: string; readonly failed?: (error: Error) => void },
): HttpsAgent => {
  const options: AgentOptions = { keepAlive: false, ...(ca === undefined ? {} : { ca }) };
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const create = creator(tunnel, secure, failed);
  // The cast is safe. The library's types require an HTTPS agent, but an HTTP agent works for `ws:`.
  return Object.assign(agent as HttpsAgent, {
    createConnection: (wanted: Wanted, created: Created) => create({ ...wanted, ca: ca ?? wanted.ca }, created),
  });
};

/** Makes a dispatcher for the media of one connection. It has no HTTP/2, so a transfer never waits for another. */
export const dispatcherThrough = (tunnel: Tunnel, media: MediaTrust): TunnelDispatcher => {
  const secure = buildConnector({ allowH2: false, ...(media === null ? {} : { ca: media.ca }) });
  const through = async (options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
    const there = media?.redirect(options) ?? options;
    const isSecure = there.protocol === 'https:';
    try {
      const httpSocket = await tunnel.connect({ host: there.hostname, port: Number(there.port) || (isSecure ? 443 : 80) });
      if (isSecure) secure({ ...there, httpSocket }, callback);
      else callback(null, httpSocket);
    } catch (error) {
      callback(error as Error, null);
    }
  };
  return new TunnelDispatcher({ allowH2: false, connect: (options, callback) => void through(options, callback) });
};

export interface LiveRoute {
  /** The agent for the WebSocket; undefined if none is needed. */
  readonly agent: Agent | undefined;
  /** The agent for the library's own uploads. */
  readonly fetchAgent: Agent | undefined;
  /** The dispatcher for the gateway's own transfers. */
  readonly dispatcher: Dispatcher | undefined;
  /**
   * The dispatcher for downloads from hosts that the platform did not offer, such as a host that a message names. The address guard checks their addresses.
   * With a proxy, the proxy resolves the names, and no address is checked.
   */
  readonly guarded: Dispatcher | undefined;
  /** The dispatcher for the library's downloads; undefined for the default dispatcher. */
  readonly fetchDispatcher: Dispatcher | undefined;
  /** Returns a close with the reason `proxyFailed` if the proxy caused the close. Otherwise returns the close unchanged. */
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
  /** The guard for proxies that owners of instances name. */
  readonly guard: ProxyGuard;
}

interface ProxyRouteInput extends Omit<ProxyParts, 'guard'> {
  readonly url: string;
  readonly guard: ProxyGuard | null;
  /** True if the platform's address is `wss:`. */
  readonly secure: boolean;
  readonly media: MediaTrust;
}

export const proxyRoute = ({ url, secure, media, timeoutMs, guard }: ProxyRouteInput): LiveRoute => {
  const tunnel = new Tunnel({ url, timeoutMs, guard });
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
      // The platform gives a reason for a close. A connection that ends without a reason was cut by the proxy.
      return close.code === 428 ? proxyFailed('the connection through it broke off') : close;
    },
    close() {
      tunnel.close();
      dispatcher.destroy().catch(() => undefined);
    },
  };
};
