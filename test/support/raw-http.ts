/** Sends HTTP requests as raw bytes, including malformed requests. */
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** The head and the body as received. */
  readonly text: string;
  readonly body: string;
}

/** Sends bytes. Returns the answer, which is read until the connection ends. */
export const sendRaw = (address: string, bytes: string): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(60_000, () => socket.destroy(new Error('no answer in time')));
    socket.on('data', (chunk) => void (text += chunk.toString()));
    socket.on('end', () => {
      socket.end();
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
      resolve({ status, text, body: text.slice(text.indexOf('\r\n\r\n') + 4) });
    });
    socket.on('error', reject);
  });
