/** A TLS front for the simulated platform, so that a connection uses the same code as with the real one. */
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { generate } from 'selfsigned';

/** Opens the front and returns its address. This process verifies no TLS certificate until `close`. */
export const openFront = async (port: number): Promise<{ readonly url: string; close(): void }> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]);
  const front = createServer({ key, cert }, (socket) => {
    const back = connect(port, '127.0.0.1');
    socket.pipe(back).pipe(socket);
    for (const [one, other] of [
      [socket, back],
      [back, socket],
    ] as const)
      one.on('error', () => other.destroy());
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  return {
    url: `wss://localhost:${(front.address() as AddressInfo).port}/ws/chat`,
    close() {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      front.close();
    },
  };
};
