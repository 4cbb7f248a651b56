/** Ports that a test chooses before the program that it starts takes them. */
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those could take it while the program is down. */
const candidate = (): number => 20_000 + Math.floor(Math.random() * 10_000);

/** Listens for a moment; false when the port is taken. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

const given = new Set<number>();

/** One that this process has not got before. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = candidate();
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
};
