/** Sets up the HTTP app with a gateway in memory. The app is closed when its test ends. */
import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { buildApp, type HttpOptions } from '#src/http/app.ts';
import { instance, now, sampleFacts } from '#test/contract/samples.ts';
import { adminToken, createFakeGateway, passkeyCode, type FakeGateway } from '#test/fakes/gateway.ts';
import { afterLastFile } from '#test/support/together.ts';

export const token = instance.record.token;
export const asInstance = { token };
/** The headers that the browser extension of an account owner sends. */
export const asBrowser = { 'passkey-code': passkeyCode };
export const asAdmin = { admintoken: adminToken };

export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly event: string;
}

export interface Setup {
  readonly app: FastifyInstance;
  readonly gateway: FakeGateway;
  readonly lines: LogLine[];
  /** Returns the address of the app. The first call makes the app listen on a free port. */
  address(): Promise<string>;
}

const logInto = (kept: { readonly lines: LogLine[] }): HttpOptions['log'] => {
  const at = (level: string) => (fields: object, event: string) => void kept.lines.push({ level, fields: { ...fields }, event });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};

export const bodyLimit = 1024 * 1024;

export const optionsWith = (options: Partial<HttpOptions>, lines: LogLine[] = []): HttpOptions => ({
  baseUrl: 'http://127.0.0.1:3000',
  serverUrl: '/',
  demoServer: false,
  bodyLimit,
  mediaBytes: bodyLimit,
  answerBytes: 8 * 1024 * 1024,
  base64Bytes: 1024 * 1024,
  requestsPerSecond: 0,
  authFailuresPerMinute: 0,
  adminSessionMs: 60_000,
  simulatedPhone: null,
  trustedProxies: [],
  allowQueryTokens: false,
  corsOrigins: [],
  mcpTools: [],
  log: logInto({ lines }),
  version: '0.0.0',
  facts: sampleFacts,
  healthDetails: 'all',
  overloadLagMs: 0,
  restart: () => 'begins',
  storageTroubles: () => [],
  now: () => now,
  ...options,
});

export const setUp = async (t: TestContext, options: Partial<HttpOptions> = {}): Promise<Setup> => {
  const gateway = createFakeGateway();
  const lines: LogLine[] = [];
  const app = await buildApp(gateway, optionsWith(options, lines));
  t.after(() => app.close());
  let listening: Promise<string> | undefined;
  return { app, gateway, lines, address: () => (listening ??= app.listen({ host: '127.0.0.1', port: 0 })) };
};

/** Returns a gateway that forwards all calls to another gateway, which a test can replace. */
export const standIn = (behind: { gateway: FakeGateway }): FakeGateway =>
  new Proxy(behind.gateway, {
    get: (_, key) => Reflect.get(behind.gateway, key) as unknown,
    set: (_, key, value) => Reflect.set(behind.gateway, key, value),
  });

const common = { gateway: createFakeGateway(), lines: [] as LogLine[] };
let commonApp: Promise<FastifyInstance> | undefined;
afterLastFile(async () => (await commonApp)?.close());

/**
 * Returns one app for all request-and-answer tests of a file, because creating it takes 0.2 s. Each test gets its own gateway and log. Dashboard sessions
 * stay. Tests with streams, connections or settings create their own app.
 */
export const setUpCommon = async (): Promise<Pick<Setup, 'app' | 'gateway' | 'lines'>> => {
  Object.assign(common, { gateway: createFakeGateway(), lines: [] });
  commonApp ??= buildApp(standIn(common), optionsWith({ log: logInto(common) }));
  return { app: await commonApp, ...common };
};

/** Waits until a condition is true. Rejects after a minute. */
export const until = async (condition: () => boolean): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition never held');
    await new Promise((resolve) => setImmediate(resolve));
  }
};
