/** Turns every error of the control interface into `{ "error": string }`. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifySchemaValidationError, RouteOptions } from 'fastify';
import { SandboxError } from '../interface.ts';

type Finding = FastifySchemaValidationError & {
  readonly parentSchema?: { readonly description?: string; readonly oneOf?: readonly Branch[] };
};
interface Branch {
  readonly title?: string;
}

/** Makes an error with one sentence about the first validation failure. Uses the description of the field if there is one. */
export const sentence = (findings: readonly FastifySchemaValidationError[], part: string): Error => {
  const finding = findings[0] as Finding | undefined;
  const field = finding?.instancePath.slice(1).replaceAll('/', '.') || part;
  const { keyword, params, parentSchema } = finding ?? {};
  if (keyword === 'required') return new Error(`${String(params?.['missingProperty'])} is required`);
  if (keyword === 'enum') return new Error(`${field} must be one of ${String(params?.['allowedValues'])}`);
  if (keyword === 'discriminator') {
    return new Error(`${String(params?.['tag'])} must be one of ${(parentSchema?.oneOf ?? []).map((branch) => branch.title).join(',')}`);
  }
  const expectation = parentSchema?.description === undefined ? finding?.message : `must be ${parentSchema.description}`;
  return new Error(`${field} ${expectation ?? 'is not valid'}`);
};

/** Texts for errors of the framework whose original texts mention internals of the framework. */
const frameworkTexts: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not valid JSON',
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is too large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the body must be JSON, with the header content-type: application/json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body has another length than its content-length header says',
  FST_ERR_BAD_URL: 'the address is not a valid URL',
};

const answerOf = (error: FastifyError | SandboxError): { readonly status: number; readonly text: string } => {
  if (error instanceof SandboxError) return { status: error.status, text: error.message };
  const status = error.statusCode ?? 500;
  return { status, text: frameworkTexts[error.code] ?? (status < 500 ? error.message : 'internal error') };
};

/** Returns the methods of the routes with this path. The framework would answer 404 even if only the method is wrong. */
const methodsFor = (routes: readonly RouteOptions[], path: string): readonly string[] => [
  ...new Set(
    routes
      .filter(({ url }) =>
        new RegExp(
          `^${url
            .replaceAll('.', '\\.')
            .replace(/:[a-z]+/g, '[^/]+')
            .replaceAll('*', '.*')}$`,
        ).test(path),
      )
      .flatMap(({ method }) => method),
  ),
];

/** Installs the handlers. Call this function before the routes are registered. */
export const handleErrors = (app: FastifyInstance, onSurprise: (error: unknown) => void): void => {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.setSchemaErrorFormatter(sentence);
  app.setErrorHandler<FastifyError | SandboxError>((error, _request, reply) => sendError(reply, error, onSurprise));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const allowed = methodsFor(routes, path);
    if (allowed.length === 0) return reply.code(404).send({ error: `nothing is at ${path}` });
    return reply
      .code(405)
      .header('allow', allowed.join(', '))
      .send({ error: `${path} does not know the method ${request.method}` });
  });
};

/** Answers with the error's status and text. Calls `onSurprise` for unexpected errors. */
export const sendError = (reply: FastifyReply, error: FastifyError | SandboxError, onSurprise: (error: unknown) => void): FastifyReply => {
  const { status, text } = answerOf(error);
  if (status >= 500) onSurprise(error);
  return reply.code(status).send({ error: text });
};

// Errors that happen before a request reaches the router: broken HTTP, wrong upgrades, and `Expect` headers. The answers have the same JSON format.

const type = 'application/json; charset=utf-8';

/** Writes an error answer to the bare connection and closes the connection. */
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
