/** A NATS server, if this machine has one. Tests kill and restart it on the same port. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '#config/programs.ts';
import { freePort } from './ports.ts';
import { until } from './until.ts';

/** True if the absence of NATS is a failure. By default the tests run without NATS. */
const isRequired = process.env['REQUIRE_NATS'] === 'true';

const path = findProgram('nats-server');

/** Options of `test` that skip a test, with the reason, if this machine has no NATS server. */
export const withNats = path === null && !isRequired ? { skip: 'this machine has no nats-server' } : ({} as { skip?: string });

/** NATS processes that have to be killed when the test process exits early. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Returns true if a NATS server on the port sends its greeting. Another program on the port sends none. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 });
    const end = (greeted: boolean): void => {
      socket.destroy();
      resolve(greeted);
    };
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    socket.on('timeout', () => end(false));
    socket.on('data', (greeting) => end(greeting.toString('latin1').startsWith('INFO ')));
  });

export class NatsServer {
  readonly #port: number;
  /** The folder of JetStream, or null without JetStream. */
  readonly #folder: string | null;
  #child: ChildProcess | null = null;

  private constructor(port: number, folder: string | null) {
    this.#port = port;
    this.#folder = folder;
  }

  static async open({ jetStream = true } = {}): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), jetStream ? await mkdtemp(join(tmpdir(), 'dormouse-nats-')) : null);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Starts the server. With `token` it accepts only clients that have the token. */
  async start({ token = '' } = {}): Promise<void> {
    if (path === null) throw new Error('REQUIRE_NATS asks for nats-server, and there is none');
    const keeping = this.#folder === null ? [] : ['-js', '-sd', this.#folder];
    const child = spawn(path, ['-a', '127.0.0.1', '-p', String(this.#port), ...keeping, ...(token === '' ? [] : ['--auth', token])], {
      stdio: 'ignore',
    });
    running.add(child);
    this.#child = child;
    await until(() => {
      if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
      return answers(this.#port);
    }, 'NATS answers');
  }

  /** Pauses the server with all its connections until `resume`. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null) return;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    running.delete(child);
    // Stored messages are deleted, as if they were in memory only.
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}
