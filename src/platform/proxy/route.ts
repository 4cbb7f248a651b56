/** The route of one connection to the platform, with all its transfers. It begins and ends with the connection. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type Agent, type AgentOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Agent as TunnelDispatcher, buildConnector, type Dispatcher } from 'undici';
import type { Close } from '#actors/ports.ts';
import { isSilent } from '../wire/outcomes.ts';
import type { MediaTrust } from '../wire/trust.ts';
import { createTunnel, type ProxyGuard, type Tunnel } from './tunnel.ts';

// A tunnel in the forms that the WebSocket, the library's uploads and undici want.

interface Wanted {
  readonly host?: string | null | undefined;
  readonly port?: string | number | null | undefined;
  readonly servername?: string | undefined;
  readonly ca?: string | undefined;
}

type Created = (error: Error | null, stream?: Duplex) => void;

/** `failed` takes each failure of the tunnel. */
const creator =
  (tunnel: Tunnel, secure: boolean, failed: (error: Error) => void) =>
  ({ host, port, servername, ca }: Wanted, created: Created): undefined => {
    const name = host ?? '';
    const give = (socket: Socket): void => {
      if (!secure) {
        created(null, socket);
        // After the exchange with the proxy nobody reads from the socket; it starts when the client has attached its listeners.
        setImmediate(() => socket.resume());
        return;
      }
      // TLS allows no address as the name of a server.
      const sni = servername || (isIP(name) > 0 ? '' : name);
      created(null, connectTls({ socket, ...(sni === '' ? {} : { servername: sni }), ...(ca === undefined ? {} : { ca }) }));
    };
    tunnel.connect({ host: name, port: Number(port) || (secure ? 443 : 80) }).then(give, (error: Error) => {
      failed(error);
      created(error);
    });
  };

/** Connections of Node's own clients; without keep-alive, so that each ends with its request. */
export const agentThrough = (
  tunnel: Tunnel,
  { secure, ca, failed = () => undefined }: { readonly secure: boolean; readonly ca?: string; readonly failed?: (error: Error) => void },
): HttpsAgent => {
  const options: AgentOptions = { keepAlive: false, ...(ca === undefined ? {} : { ca }) };
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const create = creator(tunnel, secure, failed);
  // The library's types want an agent of HTTPS; one of HTTP does the same for `ws:`.
  return Object.assign(agent as HttpsAgent, {
    createConnection: (wanted: Wanted, created: Created) => create({ ...wanted, ca: ca ?? wanted.ca }, created),
  });
};

/** Media of one connection. Without HTTP/2: one transfer never waits for another. */
export const dispatcherThrough = (tunnel: Tunnel, media: MediaTrust): TunnelDispatcher => {
  const secure = buildConnector({ allowH2: false, ...(media === null ? {} : { ca: media.ca }) });
  const through = async (options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
    const there = media?.place(options) ?? options;
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

interface ProxyRouteInput extends Omit<ProxyParts, 'guard'> {
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
