/** A scripted service of language models with the chat completions API, which can be slow or fail. It checks every request. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { until } from './until.ts';

const Call = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() }, { additionalProperties: false }),
});

const Said = Type.Union([
  Type.Object({ role: Type.Enum(['system', 'user']), content: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  Type.Object(
    { role: Type.Literal('assistant'), content: Type.String(), tool_calls: Type.Optional(Type.Array(Call, { minItems: 1 })) },
    { additionalProperties: false },
  ),
  Type.Object(
    { role: Type.Literal('tool'), tool_call_id: Type.String({ minLength: 1 }), content: Type.String() },
    { additionalProperties: false },
  ),
]);

const Tool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object(
      {
        name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' }),
        description: Type.String({ minLength: 1 }),
        parameters: Type.Object({ type: Type.Literal('object'), properties: Type.Object({}), required: Type.Array(Type.String()) }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

/** The schema of a request, with the fields that the gateway uses. */
const Request = Compile(
  Type.Object(
    {
      model: Type.String({ minLength: 1 }),
      messages: Type.Array(Said, { minItems: 1 }),
      max_tokens: Type.Integer({ minimum: 1 }),
      temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
      top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
      presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
      tools: Type.Optional(Type.Array(Tool, { minItems: 1 })),
      stream: Type.Optional(Type.Literal(true)),
    },
    { additionalProperties: false },
  ),
);

export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string; readonly tool_call_id?: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly [field: string]: unknown;
}

export interface Script {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  /** The HTTP status of the answer. 200 if absent. */
  readonly status?: number;
  /** The delay of the answer. In milliseconds. */
  readonly delay?: number;
  /** The body of the answer, sent unchanged. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ModelServer {
  /** The base address of agents. */
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Faults of requests. A test asserts that there are none. */
  readonly objections: readonly string[];
  /** The number of requests that were cancelled by their client. */
  readonly abandoned: number;
  /** Returns the answer to a request. */
  answer: (asked: Asked) => Script;
  waitFor(count: number): Promise<unknown>;
  close(): Promise<void>;
}

const completionOf = ({ text: content = '', calls = [] }: Script, n: number) => ({
  id: `c${n}`,
  object: 'chat.completion',
  created: 1,
  model: 'small',
  choices: [
    {
      index: 0,
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      message: {
        role: 'assistant',
        content,
        ...(calls.length > 0 ? { tool_calls: calls.map((call, at) => ({ id: `call_${n}_${at}`, type: 'function', function: call })) } : {}),
      },
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});

/** Returns a fault for each call of a tool without a result before the next message. */
const unanswered = (messages: Asked['messages']): readonly string[] => {
  const results = new Set(messages.map(({ tool_call_id: id }) => id));
  return messages
    .flatMap((message) => (message as { readonly tool_calls?: readonly { readonly id: string }[] }).tool_calls ?? [])
    .filter(({ id }) => !results.has(id))
    .map(({ id }) => `no result for ${id}`);
};

/** Opens the server. `key` is the only accepted API key. An empty key opens a server that needs no key. */
export const openModelServer = async (key: string): Promise<ModelServer> => {
  const asked: Asked[] = [];
  const objections: string[] = [];
  let abandoned = 0;
  const reply = (response: ServerResponse, script: Script): void => {
    const { status = 200, raw, headers = {} } = script;
    if (response.destroyed) return;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    // Real services also repeat a part of the key in their errors.
    const error = JSON.stringify({ error: { message: `Incorrect API key provided: ${key.slice(0, 12)}`, type: 'error' } });
    response.end(raw ?? (status === 200 ? JSON.stringify(completionOf(script, asked.length)) : error));
  };
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const body = JSON.parse(sent) as Asked;
      const { authorization = '' } = request.headers;
      if (`${request.method} ${request.url}` !== 'POST /v1/chat/completions') objections.push(`${request.method} ${request.url}`);
      if (!Request.Check(body))
        objections.push(...[...Request.Errors(body)].map(({ instancePath, message }) => `${instancePath} ${message}: ${sent}`));
      else objections.push(...unanswered(body.messages));
      // Headers with the prefix `x-` tell the service about the machine or the operator, so the gateway must not send them.
      for (const name of Object.keys(request.headers)) if (name.startsWith('x-')) objections.push(`the header ${name}`);
      asked.push(body);
      if (authorization !== (key === '' ? '' : `Bearer ${key}`)) return reply(response, { status: 401 });
      const script = server.answer(body);
      const timer = setTimeout(() => reply(response, script), script.delay ?? 0);
      response.on('close', () => {
        clearTimeout(timer);
        abandoned += response.writableFinished ? 0 : 1;
      });
    });
  }) as ReturnType<typeof createServer> & Pick<ModelServer, 'answer'>;
  server.answer = () => ({ text: 'Hello!' });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    objections,
    get abandoned() {
      return abandoned;
    },
    get answer() {
      return server.answer;
    },
    set answer(answer) {
      server.answer = answer;
    },
    waitFor: (count) => until(() => asked.length >= count, `${count} questions; there were ${asked.length}`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
