/** A network between a client and the test's database server: unlike a local socket it takes what is written to an end that is gone. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Network {
  /** The database's address on the other side of it. */
  readonly url: string;
  /** It forgets its connections: the client loses them, the server waits on. */
  forget(): void;
}

/** Closed after the test. */
export const openNetwork = async (t: TestContext, url: string): Promise<Network> => {
  const { pathname, searchParams } = new URL(url);
  const clients = new Set<Socket>();
  const servers = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(`${searchParams.get('host')}/.s.PGSQL.5432`);
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    server.on('close', () => client.end());
    clients.add(client.on('data', (chunk) => server.write(chunk)));
    servers.add(server.on('data', (chunk) => client.write(chunk)));
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const forget = (): void => clients.forEach((client) => client.destroy());
  t.after(() => {
    forget();
    for (const server of servers) server.destroy();
    relay.close();
  });
  return { url: `postgresql://postgres@127.0.0.1:${(relay.address() as AddressInfo).port}${pathname}`, forget };
};
