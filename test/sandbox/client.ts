/** The real Baileys client for tests of the simulated platform. Keys are in memory, and signatures are verified, which Baileys by itself does not do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent as HttpsAgent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Curve,
  initAuthCreds,
  makeWASocket,
  WA_CERT_DETAILS,
  type AuthenticationState,
  type BaileysEventMap,
  type SignalDataTypeMap,
  type UserFacingSocketConfig,
  type WASocket,
} from '@whiskeysockets/baileys';
import { verify } from 'curve25519-js';
import { pino } from 'pino';
import { Agent as Dispatcher, buildConnector, Dispatcher1Wrapper } from 'undici';
import type { History, Sandbox } from '#src/sandbox/interface.ts';
import { startSandbox, type RunningSandbox } from '#src/sandbox/server.ts';
import { freePort } from '#test/support/ports.ts';
import { silenceSignal } from '#src/sandbox/silence.ts';
import { endAfterTests } from '#test/support/together.ts';

silenceSignal();
// Baileys ignores the result of the signature check of the library. In these tests a wrong signature has to fail.
Curve.verify = (publicKey, message, signature) => verify(publicKey.length === 33 ? publicKey.subarray(1) : publicKey, message, signature);

const silent = pino({ level: 'silent' });

export interface Auth extends AuthenticationState {
  readonly values: Map<string, unknown>;
}

export function createAuth(): Auth {
  const values = new Map<string, unknown>();
  return {
    creds: initAuthCreds(),
    values,
    keys: {
      get: <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
        Object.fromEntries(ids.flatMap((id) => (values.has(`${type} ${id}`) ? [[id, values.get(`${type} ${id}`)]] : []))) as {
          [id: string]: SignalDataTypeMap[T];
        },
      set: (data) => {
        for (const [type, entries] of Object.entries(data)) {
          for (const [id, value] of Object.entries(entries ?? {})) {
            if (value === null || value === undefined) values.delete(`${type} ${id}`);
            else values.set(`${type} ${id}`, value);
          }
        }
      },
    },
  };
}

type Name = keyof BaileysEventMap;

/** A socket of Baileys with all its events so far. */
export interface Client {
  readonly sock: WASocket;
  readonly auth: Auth;
  /** Waits for the first event, past or future, for which `pick` returns a value. Resolves with that value. */
  wait<N extends Name, R>(name: N, pick: (event: BaileysEventMap[N]) => R | undefined | false, ms?: number): Promise<R>;
  /** All events with this name so far. */
  seen<N extends Name>(name: N): BaileysEventMap[N][];
  end(): Promise<void>;
}

const open = new Set<Client>();

/** The facts of a sandbox that a client needs, in this process or in another. */
export interface SandboxAccess {
  readonly port: number;
  readonly sandbox: Pick<Sandbox, 'trust'>;
}

/** Downloads from the media host of a sandbox, also requests of the library to the real host, because snapshots have a path without an address. */
function downloadsFrom(port: number, ca: string): Dispatcher {
  const connector = buildConnector({ ca, allowH2: false });
  const here = { hostname: '127.0.0.1', host: `127.0.0.1:${port}`, port: String(port), servername: '' };
  return new Dispatcher({ connect: (options, callback) => connector({ ...options, ...here }, callback) });
}

export function connect(sandbox: SandboxAccess, auth: Auth = createAuth(), config: Partial<UserFacingSocketConfig> = {}): Client {
  const { noiseRoot, mediaAuthority } = sandbox.sandbox.trust();
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(noiseRoot, 'hex');
  const agent = new HttpsAgent({ ca: mediaAuthority });
  const dispatcher = downloadsFrom(sandbox.port, mediaAuthority);
  const sock = makeWASocket({
    auth,
    logger: silent,
    waWebSocketUrl: `ws://127.0.0.1:${sandbox.port}/ws/chat`,
    fetchAgent: agent as never,
    options: { dispatcher: new Dispatcher1Wrapper(dispatcher) } as never,
    // With own events, Baileys merges the first status update into the own message and emits none.
    emitOwnEvents: false,
    ...config,
  });
  const events: { name: Name; event: unknown }[] = [];
  const waiting = new Set<() => void>();
  sock.ev.process((batch) => {
    for (const [name, event] of Object.entries(batch)) events.push({ name: name as Name, event });
    for (const check of waiting) check();
  });
  sock.ev.on('creds.update', (update) => {
    Object.assign(auth.creds, update);
  });
  const seen = <N extends Name>(name: N): BaileysEventMap[N][] =>
    events.flatMap((one) => (one.name === name ? [one.event as BaileysEventMap[N]] : []));
  const client: Client = {
    sock,
    auth,
    seen,
    async wait(name, pick, ms = 60_000) {
      return until(
        () => {
          for (const event of seen(name)) {
            const picked = pick(event);
            if (picked !== undefined && picked !== false) return picked;
          }
          return undefined;
        },
        waiting,
        `${name}, seen: ${JSON.stringify(seen(name)).slice(0, 1500)}`,
        ms,
      );
    },
    async end() {
      open.delete(client);
      agent.destroy();
      await dispatcher.destroy();
      // Another socket may use the same credentials next, so this socket is closed first.
      await sock.end(undefined);
    },
  };
  open.add(client);
  return client;
}

async function until<R>(look: () => R | undefined, waiting: Set<() => void>, what: string, ms: number): Promise<R> {
  const { promise, resolve, reject } = Promise.withResolvers<R>();
  const timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
  const check = (): void => {
    const found = look();
    if (found !== undefined) resolve(found);
  };
  waiting.add(check);
  check();
  return promise.finally(() => {
    clearTimeout(timer);
    waiting.delete(check);
  });
}

export const closeCode = (client: Client): Promise<number> =>
  client.wait('connection.update', ({ connection, lastDisconnect }) =>
    connection === 'close'
      ? ((lastDisconnect?.error as { output?: { statusCode?: number } } | undefined)?.output?.statusCode ?? -1)
      : undefined,
  );

export const opened = (client: Client): Promise<true> => client.wait('connection.update', ({ connection }) => connection === 'open');

export const qrOf = (client: Client): Promise<string> => client.wait('connection.update', ({ qr }) => qr);

/** Pairs by QR code. Returns the second connection, open. */
export async function pair(
  sandbox: RunningSandbox,
  input: { readonly number: string; readonly name?: string; readonly history?: History },
  config?: Partial<UserFacingSocketConfig>,
): Promise<Client> {
  const first = connect(sandbox, createAuth(), config);
  await sandbox.sandbox.scan({ qr: await qrOf(first), ...input });
  const code = await closeCode(first);
  if (code !== 515) throw new Error(`the pairing ended with ${code}`);
  open.delete(first);
  const second = connect(sandbox, first.auth, config);
  await opened(second);
  return second;
}

/** Polls a condition for which there is no event. */
export async function eventually<R>(look: () => R | undefined | false, what: string, ms = 60_000): Promise<R> {
  const deadline = Date.now() + ms;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Polls an asynchronous condition for which there is no event. */
export async function eventuallyAsync(look: () => boolean | Promise<boolean>, what: string, ms = 60_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface TestSandbox extends RunningSandbox {
  /** Stops the sandbox and starts it again on the same data. */
  restart(): Promise<void>;
}

/** A sandbox in a folder of its own. `cleanUp` ends all clients as well. */
export async function openSandbox(
  options: { readonly decrypt?: boolean } = {},
): Promise<{ sandbox: TestSandbox; cleanUp: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  let running = await startSandbox({ port: await freePort(), dataDir, ...options });
  const sandbox: TestSandbox = {
    get port() {
      return running.port;
    },
    get sandbox() {
      return running.sandbox;
    },
    stop: () => running.stop(),
    async restart() {
      const { port } = running;
      await running.stop();
      running = await startSandbox({ port, dataDir, ...options });
    },
  };
  const cleanUp = async (): Promise<void> => {
    for (const client of open) await client.end();
    await running.stop();
    await rm(dataDir, { recursive: true, force: true });
    // Every pairing of Baileys leaves a timer of 30 s running.
    endAfterTests();
  };
  return { sandbox, cleanUp };
}
