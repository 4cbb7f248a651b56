/** A proxy with a fixed address in front of a gateway that restarts. It can cut all connections, and it records the requests. */
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The HTTP status of the answer, or 0 before the answer. */
  status: number;
  /** The received text so far. */
  text: string;
}

export class Relay {
  readonly passed: Passed[] = [];
  readonly #server: Server;
  #isCut = false;

  private constructor(target: () => string, own: Relay['answers']) {
    this.answers = own;
    this.#server = createServer((request, response) => {
      if (this.answers(request, response)) return;
      const to = target();
      // The port of a starting gateway is not known yet.
      if (this.#isCut || to === '') return void response.destroy();
      this.#pass(to, request, response);
    });
  }

  /** Answers a request in place of the gateway. Returns true if the request was answered. */
  readonly answers: (request: IncomingMessage, response: ServerResponse) => boolean;

  /** Opens a relay. `target` returns the current address of the gateway, or '' without one. */
  static async open(target: () => string, own: Relay['answers'] = () => false): Promise<Relay> {
    const relay = new Relay(target, own);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks every connection, and refuses new ones until `mend`. */
  cut(): void {
    this.#isCut = true;
    this.#server.closeAllConnections();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #pass(target: string, { url = '', method = 'GET', headers }: IncomingMessage, response: ServerResponse): void {
    const passed: Passed = { path: url, headers, status: 0, text: '' };
    this.passed.push(passed);
    const onward = forward(target + url, { method, headers, agent: false }, (answer) => {
      passed.status = answer.statusCode ?? 0;
      response.writeHead(passed.status, answer.headers).flushHeaders();
      answer.on('data', (chunk: Buffer) => {
        passed.text += chunk.toString();
        response.write(chunk);
      });
      answer.on('end', () => response.end());
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end();
  }
}
