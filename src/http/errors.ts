/** Turns refusals and errors into HTTP. The body of every error has the field `error` with a text. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import {
  EpochLost,
  FilesUnavailable,
  type Reason,
  type Refusal,
  StorageBroken,
  StorageBusy,
  StorageFull,
  StorageSlow,
  StorageUnavailable,
} from '#actors/gateway.ts';
import { capView, limitsEndpoint, timeLockView } from '#src/contract/views.ts';
import { framesOf } from '#src/base/stack-frames.ts';
import { invalidInput, type InvalidTexts, isUploading } from './body.ts';
import type { HttpLog, HttpOptions } from './options.ts';
import type { BodyLimit, FailureAnswer, RefusalAnswer } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Fixed texts for invalid input. */
    invalidTexts?: InvalidTexts;
    /** The text of a 500 for an unexpected failure. */
    failure?: FailureAnswer;
    /** Words before the sentence about a body that is too large. */
    tooLarge?: string;
    /** The limit of the body, in place of the setting BODY_LIMIT. */
    ownBodyLimit?: BodyLimit;
  }
}

/** The time after which a client may retry if no better value is known. In seconds. */
const retryAfter = 5;

/** The HTTP status of each reason, with the text in the documents. An answer has the sentence of its refusal instead. */
export const refusalTable: Readonly<Record<Reason, { readonly status: number; readonly text: string }>> = {
  invalid: { status: 400, text: 'number is required' },
  tooLarge: { status: 413, text: 'File size exceeds limit' },
  notConvertible: { status: 415, text: 'Unsupported media format' },
  notFound: { status: 404, text: 'not found' },
  forbidden: { status: 403, text: 'User is not an admin of this group' },
  conflict: { status: 409, text: 'the state of the instance does not allow it' },
  capped: { status: 429, text: 'Maximum number of connected instances reached' },
  limited: { status: 429, text: 'Rate limit exceeded' },
  refused: { status: 500, text: 'the platform refused it' },
  unknown: { status: 504, text: 'the platform did not answer in time' },
  notSent: { status: 409, text: 'the instance is not connected: connect it first, unless it is connecting already' },
  unavailable: { status: 503, text: 'the database is not available now' },
  notSupported: { status: 501, text: 'this is not supported' },
};

export const unexpectedText = 'Internal server error';

/** The values of the field `error_key`, by the code of the platform. */
const errorKeys: Readonly<Record<number, string>> = { 463: 'WHATSAPP_REACHOUT_TIMELOCK' };

const limitFields = ({ timeLock, cap }: NonNullable<Refusal['limits']>) => ({
  diagnostics_endpoint: limitsEndpoint,
  details: {
    ...(timeLock === undefined ? {} : { reachout_timelock: timeLockView(timeLock) }),
    ...(cap === undefined ? {} : { new_chat_message_capping: capView(cap) }),
  },
});

/** Returns the name of a code. Code 463 has no name if the time-lock of the account is known to be inactive, because the refusal then has another cause. */
const errorKeyOf = ({ code = 0, limits }: Refusal): string | undefined =>
  code === 463 && limits?.timeLock?.ok === true && !limits.timeLock.value.active ? undefined : errorKeys[code];

/** Returns the fields for a refusal by the platform. For new chats they include the limits of the account. */
export const platformFields = (refusal: Refusal) => {
  const { code, limits } = refusal;
  const key = errorKeyOf(refusal);
  return {
    error_source: 'whatsapp_server',
    provider: 'whatsapp',
    ...(code === undefined ? {} : { provider_code: code }),
    ...(key === undefined ? {} : { error_key: key }),
    ...(limits === undefined ? {} : limitFields(limits)),
  };
};

const led = (lead: string | undefined, text: string): string => (lead === undefined ? text : `${lead}: ${text}`);

/** Sets the header that says which field is wrong and why, for answers whose body has a fixed text. Characters beyond printable ASCII become `?`. */
const hintAt = (reply: FastifyReply, hint: string): void => void reply.header('x-error-hint', hint.replaceAll(/[^ -~]/g, '?'));

/** Answers with a refusal. `special` is the row's own answer for this reason. */
export const sendRefusal = (
  reply: FastifyReply,
  refusal: Refusal,
  special: RefusalAnswer = {},
  call: Parameters<NonNullable<RefusalAnswer['details']>>[1] = { id: '', now: 0 },
): FastifyReply => {
  const { reason, message } = refusal;
  const wait = refusal.retryAfter ?? (reason === 'unavailable' ? retryAfter : undefined);
  if (wait !== undefined) void reply.header('retry-after', String(Math.max(1, Math.ceil(wait))));
  void reply.code(special.status ?? refusalTable[reason].status);
  const body = reason === 'refused' ? { error: message, ...platformFields(refusal) } : { error: led(special.lead, message) };
  if (reason === 'invalid' && special.text !== undefined && special.text !== message) hintAt(reply, message);
  else if (refusal.hint !== undefined) hintAt(reply, refusal.hint);
  return reply.send({ ...body, ...(special.text === undefined ? {} : { error: special.text }), ...special.details?.(refusal, call) });
};

export const tooLargeText = ({ bytes, setting }: BodyLimit): string =>
  `the body is too large: at most ${bytes} bytes${setting === undefined ? '' : ` (see ${setting})`}`;

/** Texts for framework errors whose own texts describe internals. */
const frameworkTexts: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not valid JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the header Content-Type is not valid; it should be application/json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body has another length than its Content-Length header says',
  FST_ERR_BAD_URL: 'the address is not a valid URL',
  FST_ERR_MAX_PARAM_LENGTH: 'a part of the address is too long',
  ECONNRESET: 'the body was not sent to its end',
};

/**
 * Returns true for errors of the language, whose messages describe code. Messages of other errors may quote a query with its values, so they
 * are not logged.
 */
const messageIsSafe = (error: Error): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

const describe = (error: unknown): object => {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = (error as { readonly code?: unknown }).code;
  return {
    error: error.name,
    ...(code === undefined ? {} : { code }),
    ...(messageIsSafe(error) ? { message: error.message } : {}),
    frames: framesOf(error.stack),
  };
};

/** Returns the text of a 503 for a storage error; null for other errors. */
const storageText = (error: unknown): string | null => {
  if (error instanceof StorageUnavailable) return refusalTable.unavailable.text;
  if (error instanceof StorageSlow) return 'the database took too long to answer';
  if (error instanceof StorageBusy) return 'the database takes no more work now';
  if (error instanceof StorageFull) return 'the disk of the database is full';
  if (error instanceof StorageBroken) return 'the database does not work now';
  if (error instanceof FilesUnavailable) return 'the store of files is not available now';
  return error instanceof EpochLost ? 'another gateway has taken over the database' : null;
};

const sendSurprise = (log: HttpLog, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { config, url: route } = request.routeOptions;
  const text = storageText(error);
  if (text !== null) return sendRefusal(reply, { reason: 'unavailable', message: text });
  log.error({ method: request.method, route, ...describe(error) }, 'http.surprised');
  return reply.code(500).send({ error: config.failure?.text ?? unexpectedText, ...config.failure?.details?.(request.instanceId) });
};

const tooLargeCode = 'FST_ERR_CTP_BODY_TOO_LARGE';

const sendError = (log: HttpLog, error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { config } = request.routeOptions;
  if (error.validation !== undefined) {
    const { hint, ...body } = invalidInput(error.validation, error.validationContext ?? 'body', config.invalidTexts);
    if (hint !== undefined) hintAt(reply, hint);
    return reply.code(400).send(body);
  }
  const status = error.statusCode ?? 500;
  if (status < 400 || status >= 500) return sendSurprise(log, error, request, reply);
  // `connection: close` would close the connection while bytes of the body are unread. The reset would hide the answer from the client.
  if (error.code === tooLargeCode) {
    void reply.removeHeader('connection');
    const limit = config.ownBodyLimit ?? { bytes: request.routeOptions.bodyLimit ?? 0, setting: 'BODY_LIMIT' };
    return reply.code(413).send({ error: led(config.tooLarge, tooLargeText(limit)) });
  }
  // The connection has unread bytes too if a body is refused (429) while its bytes still arrive.
  if (status === 429) void reply.removeHeader('connection');
  // A body that cannot be read is invalid, like a body with wrong values.
  const fixed = status === 400 ? config.invalidTexts?.['*'] : undefined;
  const text = frameworkTexts[error.code] ?? error.message;
  if (fixed !== undefined) hintAt(reply, text);
  return reply.code(status).send({ error: fixed ?? text });
};

interface Known {
  readonly pattern: RegExp;
  readonly methods: readonly string[];
}

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll(/[.+?^$()|[\]{}\\]/g, String.raw`\$&`)
      .replaceAll(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')}$`,
  );

/** Installs the handlers. Call this before the routes are registered. */
export const handleErrors = (app: FastifyInstance, { log }: HttpOptions): void => {
  const known: Known[] = [];
  app.addHook('onRoute', ({ url, method, config }: RouteOptions) => {
    if (config?.isFallback !== true) known.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => sendError(log, error, request, reply));

  const sendNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
    // No route has the address, or a route with a wildcard has it and found no file.
    if (methods.length === 0 || methods.includes(request.method))
      return reply.code(404).send({ error: `nothing is at ${path.slice(0, 200)}` });
    void reply.code(405).header('allow', [...new Set(methods)].sort().join(', '));
    return reply.send({ error: `${path} does not know the method ${request.method}` });
  };
  // The answer is sent before the body is read, because at an unknown address the body does not matter.
  app.addHook('onRequest', (request, reply, next) => (request.is404 ? void sendNotFound(request, reply) : next()));
  app.setNotFoundHandler(sendNotFound);
};

/** Answers failures that occur before routing, such as an address that is not a URL. */
export const frameworkErrors =
  (log: HttpLog) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void =>
    void sendError(log, error, request, reply);

/** The answers to errors of Node's HTTP parser. Input with such an error never becomes a request. */
const parserErrors: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
};

type HttpSocket = Socket & { readonly _httpMessage?: { readonly headersSent?: boolean } | null };

export const answerParserError = (error: Error & { readonly code?: string }, socket: HttpSocket): void => {
  // Node reports the time-out of a request once, and leaves the connection to this handler. An upload may take longer, so its connection stays open.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [status, text] = parserErrors[error.code ?? ''] ?? [400, 'this is not a valid HTTP request'];
  const body = JSON.stringify({ error: text });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

/** Answers `Expect` with any value but `100-continue`. Node would answer without a body. */
export const refuseExpectation = (_request: IncomingMessage, response: ServerResponse): void => {
  const body = JSON.stringify({ error: 'the expectation cannot be met' });
  response.writeHead(417, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length, connection: 'close' });
  response.end(body);
};
