/** The rows of `/mcp`: the tools of an instance for clients of the Model Context Protocol, over streamable HTTP. */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { SharedSchemas } from '../openapi.ts';
import type { HttpOptions } from '../options.ts';
import { refuse, type Route, route } from '../route.ts';
import { FreeObject, Text } from '../schemas/common.ts';
import { Questions } from './questions.ts';
import { type Caller, callerWith, createMcpServer, type RunTool } from './server.ts';
import type { McpSessions } from './sessions.ts';
import { toolsOf } from './tools.ts';

const headers = Type.Object({
  'mcp-session-id': Type.Optional(Text(64, 'The session from an earlier answer')),
});

const unknownSession = 'the session has ended, or belongs to another node: begin a new one';

const common = {
  credential: 'mcp',
  tag: 'instance',
  requestHeaders: headers,
  answer: FreeObject('A message of JSON-RPC 2.0, as JSON or as an event of a stream'),
  refusals: { forbidden: { example: 'MCP takes the token of the instance' }, notFound: { example: unknownSession } },
} as const;

/** Refuses a session of the dashboard. Such a session has no instance token, which the request of a tool needs. */
const noToken = refuse('forbidden', 'MCP takes the token of the instance');

/** Executes the request of a tool like a request of the client: with the client's token, and through every check, limit and log of the route. */
const runFor =
  ({ server, id, instanceToken: token, ip, headers: { host = '', traceparent } }: FastifyRequest): RunTool =>
  async (request) => {
    const { statusCode, payload, headers } = await server.inject({
      ...request,
      method: request.method as 'GET',
      remoteAddress: ip,
      headers: { ...request.headers, token, host, 'x-request-id': id, ...(traceparent === undefined ? {} : { traceparent }) },
    });
    // The token is removed from the answer. An attacker could persuade a model that sees the token to send the token to a third party.
    return { status: statusCode, text: payload.replaceAll(token, ''), hint: String(headers['x-error-hint'] ?? '') };
  };

/** Returns a signal that aborts when the connection of the request closes, also after its answer. */
const leftOf = ({ raw }: FastifyReply): AbortSignal => {
  const left = new AbortController();
  if (raw.destroyed) left.abort();
  else raw.once('close', () => left.abort());
  return left.signal;
};

const callerOf = (request: FastifyRequest, reply: FastifyReply, transport: WebStandardStreamableHTTPServerTransport): Caller => ({
  instance: request.instanceId,
  run: runFor(request),
  left: leftOf(reply),
  length: () => JSON.stringify(request.body).length,
  drop(id) {
    transport.closeSSEStream(id);
    // Without a stream the library drops the request and sends no answer.
    void transport.send({ jsonrpc: '2.0', id, result: {} }).catch(() => undefined);
  },
});

/** Makes the request for the library, without a body. The library gets the parsed body separately. */
const webRequestOf = ({ method, url, headers }: FastifyRequest): Request => {
  const named = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : []));
  return new Request(new URL(url, 'http://localhost'), { method, headers: named });
};

/**
 * Sends an answer of the library, and waits until all its bytes are sent. An answer within a session is a stream. Errors have the form of the
 * interface, because clients of the protocol read only the status.
 */
const send = async (reply: FastifyReply, response: Response): Promise<void> => {
  if (response.status < 400) return void (await reply.send(response));
  const { error } = (await response.json()) as { readonly error?: { readonly message?: string } };
  await reply.code(response.status).send({ error: error?.message ?? 'the body is no message of MCP' });
};

/**
 * The largest length of a message that begins a session, in characters of JSON. The library stores the client's description of itself. The sum for all sessions
 * is 16 MB.
 */
const longestBeginning = 16_384;

/** Returns true if a message begins a session with a client whose user can confirm calls. */
const beginsSession = ({ method, params }: Readonly<Record<string, unknown>>): boolean =>
  method === 'initialize' &&
  (params as { readonly capabilities?: { readonly elicitation?: object } } | null)?.capabilities?.elicitation !== undefined;

/** Makes the routes of `/mcp`. The operations of `rows` become tools. The caller closes the sessions. */
export const mcpRoutes = (
  { version, mcpTools }: HttpOptions,
  rows: readonly Route[],
  shared: SharedSchemas,
  sessions: McpSessions,
): readonly Route[] => {
  const tools = toolsOf(rows, mcpTools, shared);
  const questions = new Questions();
  const newServer = () => createMcpServer(version, tools, questions);
  const handle = async (
    transport: WebStandardStreamableHTTPServerTransport,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<null> => {
    const authInfo = callerWith(request.instanceToken, callerOf(request, reply, transport));
    await send(reply, await transport.handleRequest(webRequestOf(request), { parsedBody: request.body, authInfo }));
    return null;
  };
  return [
    route({
      on: ['POST /mcp'],
      operationId: 'speakMcp',
      ...common,
      summary: 'Offer the operations of the instance as tools to a client of the Model Context Protocol',
      body: FreeObject('A message of JSON-RPC 2.0'),
      run: async ({ id, body, request, reply }) => {
        if (request.instanceToken === '') return noToken;
        const name = request.headers['mcp-session-id'];
        if (typeof name === 'string' || beginsSession(body)) {
          const isTooLong = typeof name !== 'string' && JSON.stringify(body).length > longestBeginning;
          if (isTooLong) return refuse('invalid', `the message that begins a session may have ${longestBeginning} characters`);
          const transport = typeof name === 'string' ? sessions.find(id, name) : await sessions.open(id, newServer());
          if (transport === null) return refuse('notFound', unknownSession);
          return handle(transport, request, reply);
        }
        const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
        const server = newServer();
        await server.connect(transport);
        try {
          return await handle(transport, request, reply);
        } finally {
          await server.close();
        }
      },
    }),
    route({
      on: ['DELETE /mcp'],
      operationId: 'endMcpSession',
      ...common,
      summary: 'End a session of a client of the Model Context Protocol',
      run: async ({ id, request, reply }) => {
        const transport = sessions.find(id, String(request.headers['mcp-session-id'] ?? ''));
        if (transport === null) return refuse('notFound', unknownSession);
        await send(reply, await transport.handleRequest(webRequestOf(request)));
        return null;
      },
    }),
  ];
};
