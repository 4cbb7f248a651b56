/** Errors that happen before a request reaches the router: broken HTTP, wrong upgrades, expectations. They are answered in the usual format. */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const type = 'application/json; charset=utf-8';

/** Writes an error answer to the bare connection and closes it. */
export const refuse = (socket: Duplex, status: number, text: string): void => {
  const body = JSON.stringify({ error: text });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: ${type}`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

const parserErrors: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
};

type HttpSocket = Socket & { readonly _httpMessage?: { readonly headersSent?: boolean } | null };

/** Answers a broken request. When an answer has already begun, the connection can only be cut. */
const onBrokenRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable || (socket as HttpSocket)._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  refuse(socket, ...(parserErrors[error.code ?? ''] ?? ([400, 'this is not a valid HTTP request'] as const)));
};

const onExpectation = (_request: IncomingMessage, response: ServerResponse): void => {
  const body = JSON.stringify({ error: 'the expectation cannot be met' });
  response.writeHead(417, { 'content-type': type, 'content-length': body.length, connection: 'close' }).end(body);
};

export const answerHttpErrors = (server: Server): void => {
  server.on('clientError', onBrokenRequest);
  server.on('checkExpectation', onExpectation);
};
