/** Tests every operation of the public interface against the facts of `interface.json`: input, answers and refusals. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Reason } from '#actors/gateway.ts';
import { buildApp } from '#src/http/app.ts';
import { defaultStreamLimits } from '#src/http/options.ts';
import { refusalTable } from '#src/http/errors.ts';
import type { Route } from '#src/http/route.ts';
import { AdminSessions } from '#src/http/dashboard.ts';
import { allRoutes } from '#src/http/routes/index.ts';
import { Hub } from '#src/http/stream/hub.ts';
import { createFakeGateway, type FakeGateway, storageAway } from '#test/fakes/gateway.ts';
import { asAdmin, asInstance, optionsWith, standIn } from '#test/http/setup.ts';
import { testDatabase } from '#test/support/database.ts';
import {
  answerOf,
  type Document,
  type JsonSchema,
  mediaOf,
  objections,
  type Operation,
  operationsOf,
  resolved,
  strict,
} from '#test/support/openapi.ts';
import { TestService } from '#test/support/service.ts';
import { calls } from './calls.ts';
import { documentDifferences } from './compare.ts';
import { beyond, built, file, notBuilt, type OperationFacts, stale, unexplained } from './interface.ts';
import { chat, deliveryError, instance, message, now } from './samples.ts';
import { seeded } from './seed.ts';

const database = await testDatabase();
const service = await TestService.open(database.url, { CONNECT_ANSWER_MS: '200' });
const document = (await (await fetch(`${service.address}/openapi.json`)).json()) as Document;
const offered: ReadonlyMap<string, Operation> = operationsOf(document);

const options = optionsWith({});
const hub = new Hub({ gateway: createFakeGateway(), limits: defaultStreamLimits, log: options.log });
const rows = new Map(
  allRoutes(options, hub, new AdminSessions(60_000, null)).flatMap((row) => row.on.map((name) => [name as string, row] as const)),
);
hub.close();

/** The operations of the public interface, and those beyond it that have a call in `calls.ts`. The credential of the latter is that of their row. */
const called: readonly (readonly [name: string, facts: OperationFacts])[] = [
  ...built,
  ...Object.keys(calls)
    .filter((name) => beyond.has(name))
    .map((name) => [name, { auth: rows.get(name)?.credential === 'admin' ? 'admintoken' : 'token' }] as const),
];

/** One app for all operations, because creating it is slow. Each operation has its own fake gateway. */
const behind = { gateway: createFakeGateway() };
const app = await buildApp(standIn(behind), options);
after(() => app.close());

const none = (found: readonly string[]): void => assert.deepEqual(found, []);

test('interface: every operation is built or listed as not built, and none is both', () => {
  none(Object.keys(file.operations).filter((name) => offered.has(name) === notBuilt.has(name)));
  none([...notBuilt].filter((name) => !(name in file.operations)));
});

test('interface: every operation beyond the public interface is listed with its reason', () => {
  none([...offered.keys()].filter((name) => !(name in file.operations) && !beyond.has(name)));
  none([...beyond].filter((name) => !offered.has(name) || name in file.operations));
});

const optionalFields = (facts: OperationFacts): readonly string[] => Object.keys(facts.body ?? {}).map((name) => name.replace(/!$/, ''));

test('interface: every operation that is built is called with every field that it takes', () => {
  none(built.filter(([name]) => calls[name] === undefined).map(([name]) => name));
  none(
    built.flatMap(([name, facts]) => {
      const given = Object.keys(calls[name]?.body ?? {});
      return optionalFields(facts)
        .filter((field) => !given.includes(field))
        .map((field) => `${name} ${field}`);
    }),
  );
});

/** Returns the schema of the document for a status. Fields that the schema does not name are not allowed. */
const schemaFor = (name: string, status: number | string): JsonSchema | null => {
  const operation = offered.get(name);
  const { schema } = mediaOf(operation && answerOf(operation, String(status))?.content);
  return schema === undefined ? null : strict(resolved(schema, document.components.schemas));
};

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Returns the parts of an answer that the document does not describe. */
const surprises = (name: string, { status, body }: Answer): readonly string[] => {
  const schema = schemaFor(name, status);
  const text = JSON.stringify(body).slice(0, 300);
  if (schema === null) return [`${name} answers ${status}, which the document does not name: ${text}`];
  return objections(schema, body).map((objection) => `${name} ${status}${objection}: ${text}`);
};

const headersOf = (facts: OperationFacts) => ({
  ...(facts.auth === 'token' ? asInstance : {}),
  ...(facts.auth === 'admintoken' ? asAdmin : {}),
});

class Bench {
  readonly gateway: FakeGateway = (behind.gateway = createFakeGateway());
  readonly name: string;
  readonly facts: OperationFacts;

  constructor(name: string, facts: OperationFacts) {
    this.name = name;
    this.facts = facts;
    const history = { since: now, errors: [deliveryError] };
    Object.assign(this.gateway, { webhookErrors: async () => history, globalWebhookErrors: async () => history });
  }

  async ask(change: { readonly headers?: object; readonly body?: object; readonly query?: string } = {}): Promise<Answer> {
    const [method, path] = this.name.split(' ') as ['POST', string];
    const payload = method === ('GET' as string) ? undefined : (change.body ?? this.body);
    const query = change.query ?? (this.name === 'GET /sse' ? `?events=messages&token=${asInstance.token}` : '');
    const headers = { ...(change.headers ?? headersOf(this.facts)) };
    const reply = await app.inject({ method, url: path + query, headers, ...(payload === undefined ? {} : { payload }) });
    return { status: reply.statusCode, body: reply.json() };
  }

  get body(): Readonly<Record<string, unknown>> {
    const { body = {} } = calls[this.name] ?? {};
    return body['id'] === '' && this.facts.auth === 'admintoken' ? { ...body, id: instance.record.id } : body;
  }
}

/** Tries missing and wrong credentials. Returns the findings. */
const denials = async (bench: Bench): Promise<readonly string[]> => {
  const { name, facts } = bench;
  // A credential that the interface requires and the gateway does not is a listed deviation.
  if (rows.get(name)?.credential === 'none') return [];
  const wrong = facts.auth === 'admintoken' ? { admintoken: 'wrong' } : { token: 'wrong' };
  const query = (text: string) => (name === 'GET /sse' ? { query: `?events=messages${text}` } : {});
  const answers = [await bench.ask({ headers: {}, ...query('') }), await bench.ask({ headers: wrong, ...query('&token=wrong') })];
  return answers.flatMap((answer) => [
    ...surprises(name, answer),
    ...([401, 403].includes(answer.status) ? [] : [`${name} answers ${answer.status} without a credential`]),
  ]);
};

/** Leaves out each required field. The error must have the text of the interface, if the interface fixes one. */
const omissions = async (bench: Bench, required: readonly string[]): Promise<readonly string[]> => {
  const text = bench.facts.errors?.['400'] ?? '';
  const found: string[] = [];
  for (const field of required) {
    const { [field]: _, ...body } = bench.body;
    const answer = await bench.ask({ body });
    found.push(...surprises(bench.name, answer).map((surprise) => surprise.slice(bench.name.length + 1)));
    const { error } = answer.body as { readonly error?: string };
    if (answer.status !== 400) found.push(`answers ${answer.status} without ${field}`);
    else if (text !== '' && error !== text) found.push(`400 without ${field} says "${error}" instead of "${text}"`);
  }
  return found;
};

/** Returns the findings for each refusal of the row, and for unexpected errors. */
const refusals = async (bench: Bench, row: Route): Promise<readonly string[]> => {
  const found: string[] = [];
  const attempt = async (status: number): Promise<void> => {
    const answer = await bench.ask();
    if (bench.gateway.refuseNext !== null || bench.gateway.throwNext !== null) {
      Object.assign(bench.gateway, { refuseNext: null, throwNext: null });
      return; // The row calls no method of the gateway that can fail.
    }
    if (answer.status !== status) found.push(`${bench.name} answers ${answer.status} instead of ${status}`);
    found.push(...surprises(bench.name, answer));
  };
  for (const [reason, special] of Object.entries(row.refusals ?? {}) as [Reason, { readonly status?: number }][]) {
    bench.gateway.refuseNext = { reason, message: 'so it is', code: 463, retryAfter: 3, pause: { from: now, to: now } };
    await attempt(special.status ?? refusalTable[reason].status);
  }
  bench.gateway.throwNext = new Error('surprise');
  await attempt(500);
  bench.gateway.throwNext = storageAway();
  await attempt(503);
  return found;
};

const requiredOf = (name: string): readonly string[] => {
  const { schema } = mediaOf(offered.get(name)?.requestBody?.content);
  return schema === undefined ? [] : ((resolved(schema, document.components.schemas)['required'] ?? []) as readonly string[]);
};

for (const [name, facts] of built)
  test(`interface: ${name} is described as the interface describes it`, () => {
    const operation = offered.get(name);
    assert.ok(operation, `${name} is not offered`);
    none(unexplained(name, documentDifferences(facts, operation, document.components.schemas)));
  });

for (const [name, facts] of called)
  test(`interface: ${name} answers and refuses as its document says`, async () => {
    const bench = new Bench(name, facts);
    const row = rows.get(name);
    assert.ok(row);
    none(await denials(bench));
    none(unexplained(name, await omissions(bench, requiredOf(name))));
    if (calls[name]?.stream) return;
    if (name === 'GET /globalwebhook') {
      none(surprises(name, await bench.ask()));
      await app.inject({
        method: 'POST',
        url: '/globalwebhook',
        headers: asAdmin,
        payload: calls['POST /globalwebhook']?.body ?? {},
      });
    }
    none(await refusals(bench, row));
    const answer = await bench.ask();
    assert.equal(answer.status, row.status ?? 200, JSON.stringify(answer.body));
    none(surprises(name, answer));
  });

test('interface: the whole service, with its database and without a platform, answers every operation as its document says', async () => {
  const shop = await seeded(service, database, { message, chat });
  const found: string[] = [];
  // Writes come before reads, and operations that end a credential come last.
  const rank = (name: string): number =>
    ['POST /chat/delete', 'GET', 'DELETE /instance', 'POST /admin/token'].findLastIndex((start) => name.startsWith(start));
  for (const [name, { auth }] of called.toSorted(([a], [b]) => rank(a) - rank(b))) {
    const { body = {}, withoutPlatform = 200, stream } = calls[name] ?? {};
    if (stream) continue;
    const [method = '', path = ''] = name.split(' ');
    const payload =
      method === 'GET' ? undefined : { ...body, ...(body['id'] === '' ? { id: name.includes('Admin') ? shop.id : undefined } : {}) };
    const call = auth === 'admintoken' ? service.admin.bind(service) : shop.call;
    const answer = await call(method, path, payload);
    if (answer.status !== withoutPlatform) found.push(`${name} answers ${answer.status}: ${JSON.stringify(answer.body)}`);
    else found.push(...surprises(name, answer));
    if (name === 'POST /message/find') assert.equal((answer.body as { messages: unknown[] }).messages.length, 1);
    if (name === 'POST /chat/find') assert.equal((answer.body as { chats: unknown[] }).chats.length, 1);
  }
  none(found);
});

test('interface: every listed deviation still exists', () => none(stale()));
