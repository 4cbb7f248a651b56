/** Ports that a test chooses for a program before the program listens. */
import { createServer } from 'node:net';

/** Returns a port below the ephemeral range, because an outgoing connection could take an ephemeral port while the program is down. */
const candidate = (): number => 20_000 + Math.floor(Math.random() * 10_000);

/** Listens on a port for a moment. Returns false if the port is in use. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

const given = new Set<number>();

/** Returns a free port that this process has not used before. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = candidate();
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
};
