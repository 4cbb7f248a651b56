/** Calls every route of a running gateway with random values of all types, and reports each answer that is a fault. */
import * as fc from 'fast-check';
import { bodies, parameters } from './fuzz-values.ts';
import { adminToken } from './gateway.ts';
import { answerOf, mediaOf, operationsOf, resolved, type Document, type JsonSchema, type Operation } from './openapi.ts';

/** Routes that the fuzzer does not call, with the reason. */
export const excluded: Readonly<Record<string, string>> = {
  'GET /sse': 'its answer does not end',
  'GET /admin/actors/stream': 'its answer does not end',
  'POST /admin/token/rotate': 'the fuzzer needs its token',
  'POST /instance/token/rotate': 'the fuzzer needs its token',
  'POST /admin/restart': 'every call behind it would find the server on its way',
  'DELETE /instance': 'the fuzzer needs its instance',
  'POST /instance/disconnect': 'the instance would not be paired any more',
  'POST /instance/hibernate': 'every call behind it would wait for the session to wake',
  'POST /instance/reset': 'every call behind it would find the session on its way',
  'DELETE /instance/proxy': 'it restarts the session when a proxy is set',
};

/** The longest allowed time of an answer. In milliseconds. */
const slowest = 15_000;
/** Failure statuses that the documents may name. Refusals of the platform are 500 with `error_source`. */
const documentedFailures: ReadonlySet<number> = new Set([501, 503, 504]);

export interface FuzzOptions {
  readonly address: string;
  /** Tokens of instances by their kind: `paired`, `not paired`. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly seed: number;
  /** The number of requests for each route and instance. */
  readonly perRoute: number;
  /** The time limit of the run. In milliseconds. */
  readonly mostMs: number;
}

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const partsOf = (operation: Operation, shared: Readonly<Record<string, JsonSchema>>) => {
  const { schema } = mediaOf(operation.requestBody?.content);
  const named = Object.fromEntries((operation.parameters ?? []).map(({ name, schema: one }) => [name, parameters(resolved(one, shared))]));
  return fc.record({
    body: schema === undefined ? fc.constant(undefined) : bodies(resolved(schema, shared)),
    named: fc.record(named, {
      requiredKeys: (operation.parameters ?? []).flatMap(({ name, in: where }) => (where === 'path' ? [name] : [])),
    }),
  });
};

/** Returns the body with a `delay` of at most 100 ms, because the gateway shows typing for this time before its answer. */
const withoutDelay = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'delay' in body && Number(body.delay) > 100 ? { ...body, delay: 100 } : body;

const requestOf = (name: string, operation: Operation, token: string, drawn: { body: unknown; named: Record<string, string> }): Sent => {
  const [method = '', template = ''] = name.split(' ');
  const inQuery = new URLSearchParams();
  const headers: Record<string, string> = { token, admintoken: adminToken };
  let path = template;
  for (const { name: parameter, in: where } of operation.parameters ?? []) {
    const value = drawn.named[parameter];
    if (value === undefined) continue;
    if (where === 'path') path = path.replace(`{${parameter}}`, encodeURIComponent(value.toWellFormed()) || '-');
    if (where === 'query') inQuery.append(parameter, value);
    if (where === 'header' && /^[\t\x20-\x7e]+$/.test(value)) headers[parameter] = value.trim();
  }
  const body = drawn.body === undefined || method === 'GET' ? undefined : JSON.stringify(withoutDelay(drawn.body));
  const query = inQuery.size === 0 ? '' : `?${inQuery.toString()}`;
  return { url: path + query, method, headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' }, body };
};

const errorOf = (text: string): string | null => {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
};

/** Returns the fault of an answer, or null for a correct answer. */
const objectionTo = (operation: Operation, status: number, text: string, ms: number): string | null => {
  if (ms > slowest) return `took ${ms.toFixed(0)} ms`;
  if (status < 400) return null;
  if (errorOf(text) === null) return `has no error text: ${text.slice(0, 200)}`;
  if (status < 500 || text.includes('"error_source":"whatsapp_server"')) return null;
  if (documentedFailures.has(status) && answerOf(operation, String(status)) !== undefined) return null;
  return `is no documented failure: ${text.slice(0, 200)}`;
};

/** Runs the fuzzer. Returns a sentence for each fault with its request, so that the request can be repeated. */
export const fuzz = async ({ address, tokens, seed, perRoute, mostMs }: FuzzOptions) => {
  const document = (await (await fetch(`${address}/openapi.json`)).json()) as Document;
  const found: string[] = [];
  const end = performance.now() + mostMs;
  let requests = 0;
  const routes = [...operationsOf(document)].filter(([name]) => !(name in excluded));
  const one = async (name: string, operation: Operation, of: string, sent: Sent): Promise<void> => {
    const begun = performance.now();
    const { method, headers, body } = sent;
    requests += 1;
    try {
      const answer = await fetch(address + sent.url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(30_000),
      });
      const objection = objectionTo(operation, answer.status, await answer.text(), performance.now() - begun);
      if (objection !== null) found.push(`${name} (${of}) ${sent.url} ${body?.slice(0, 400) ?? ''}: ${answer.status} ${objection}`);
    } catch (error) {
      found.push(`${name} (${of}) ${sent.url} ${body?.slice(0, 400) ?? ''}: ${error instanceof Error ? error.message : 'failed'}`);
    }
  };
  const drawn = routes.map(([name, operation]) => ({
    name,
    operation,
    all: fc.sample(partsOf(operation, document.components.schemas), { seed, numRuns: perRoute }),
  }));
  // Each round calls every route, so a run that ends early has still called all routes.
  for (let n = 0; n < perRoute; n += 1) {
    for (const { name, operation, all } of drawn) {
      if (performance.now() > end) return { found, requests, routes: routes.length };
      const draw = all[n];
      if (draw === undefined) continue;
      await Promise.all(Object.entries(tokens).map(([of, token]) => one(name, operation, of, requestOf(name, operation, token, draw))));
    }
  }
  return { found, requests, routes: routes.length };
};
