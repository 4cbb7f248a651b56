/** A tunnel in the forms that the WebSocket, the library's uploads and undici want. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Agent as Dispatcher, buildConnector } from 'undici';
import type { MediaTrust } from '../wire/trust.ts';
import type { Tunnel } from './tunnel.ts';

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
export const dispatcherThrough = (tunnel: Tunnel, media: MediaTrust): Dispatcher => {
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
  return new Dispatcher({ allowH2: false, connect: (options, callback) => void through(options, callback) });
};
