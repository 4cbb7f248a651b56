/** A control interface on a free port with a world in memory, and a client that can send malformed requests. */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { buildControl } from '#src/sandbox/control/app.ts';
import { FakeSandbox } from '#test/fakes/sandbox.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body if it is JSON, else the text. */
  readonly body: unknown;
}

export interface Served {
  readonly sandbox: FakeSandbox;
  readonly origin: string;
  /** Unexpected errors of the interface. */
  readonly surprises: readonly unknown[];
  /** Sends a request. `body` is sent unchanged if it is a string, and otherwise as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  close(): Promise<void>;
}

const encode = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

/** A test or the runner of a file, which runs a function at its end. */
interface Scope {
  after(tidy: () => Promise<void>): void;
}

export const serve = async (scope: Scope): Promise<Served> => {
  const sandbox = new FakeSandbox();
  const surprises: unknown[] = [];
  const control = await buildControl(sandbox, { onSurprise: (error) => surprises.push(error) });
  const server = createServer(control.handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const call: Served['call'] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: { ...type, ...headers }, agent: false });
      request.on('error', reject).on('response', (response) => {
        text(response).then((answer) => {
          const json = response.headers['content-type']?.includes('json') === true && answer !== '';
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: json ? JSON.parse(answer) : answer });
        }, reject);
      });
      request.end(body === undefined ? undefined : encode(body));
    });
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= (async () => {
      await control.close();
      await new Promise((resolve) => server.close(resolve));
    })());
  scope.after(close);
  return { sandbox, origin: `http://127.0.0.1:${port}`, surprises, call, close };
};
