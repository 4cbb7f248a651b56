/**
 * A simulated network between clients and a database server. Unlike a local socket it accepts bytes for a dead endpoint, and it can hold traffic back like a
 * restarting switch.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Network {
  /** The address of the database through the network. */
  readonly url: string;
  /** Closes its connections to the clients only. The server keeps its side of the connections open. */
  forget(): void;
  /** Stops the traffic until `resume`. Bytes that were sent meanwhile arrive late. */
  pause(): void;
  resume(): void;
  /** Pauses traffic as `pause` does, but new connections pass. The returned function counts the held connections that the server has not ended. */
  hold(): () => number;
  close(): void;
}

/** Opens the network. `url` is the address of a server on a Unix socket or on TCP. */
export const openNetwork = async (url: string): Promise<Network> => {
  const { pathname, searchParams, hostname, port, username, password } = new URL(url);
  const folder = searchParams.get('host');
  const clients = new Set<Socket>();
  const servers = new Set<Socket>();
  const state = { paused: false };
  const relay = createServer((client) => {
    const server = folder === null ? connect(Number(port), hostname) : connect(`${folder}/.s.PGSQL.5432`);
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    server.on('close', () => client.end());
    clients.add(client.on('data', (chunk) => server.write(chunk)));
    servers.add(server.on('data', (chunk) => client.write(chunk)));
    client.on('close', () => clients.delete(client));
    server.on('close', () => servers.delete(server));
    if (state.paused) for (const socket of [client, server]) socket.pause();
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const forget = (): void => clients.forEach((client) => client.destroy());
  const setPaused = (paused: boolean, alsoNew = paused): void => {
    state.paused = alsoNew;
    for (const socket of [...clients, ...servers]) socket[paused ? 'pause' : 'resume']();
  };
  const user = password === '' ? username || 'postgres' : `${username}:${password}`;
  return {
    url: `postgresql://${user}@127.0.0.1:${(relay.address() as AddressInfo).port}${pathname}`,
    forget,
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    hold() {
      const held = [...servers];
      setPaused(true, false);
      return () => held.filter((server) => servers.has(server)).length;
    },
    close() {
      forget();
      for (const server of servers) server.destroy();
      relay.close();
    },
  };
};

/** Opens a network that is closed after the test. */
export const testNetwork = async (t: TestContext, url: string): Promise<Network> => {
  const network = await openNetwork(url);
  t.after(() => network.close());
  return network;
};
