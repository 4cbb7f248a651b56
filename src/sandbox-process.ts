/** The simulated platform beside the gateway. It is a separate process, because live sessions must never use its root of trust and its keys. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Log } from '#actors/ports.ts';
import type { Settings } from '#config/load.ts';
import { isLoopbackAddress } from '#src/base/loopback.ts';
import type { SimulatedPhone } from '#src/http/options.ts';

/** Defaults that differ with a simulated platform. Environment variables override the defaults. */
export const sandboxPreset = { DATA_DIR: './data/sandbox', ALLOW_PRIVATE_RECEIVERS: 'loopback' } as const;

/** The time-out of a scan. A scan needs a second, and up to half a minute on a busy machine. In milliseconds. */
const scanMs = 30_000;

const phoneOf = (page: string): SimulatedPhone => ({
  page,
  async scan(qrcode, name) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ qrcode, name }) };
    try {
      const response = await fetch(`${page}phones/scan`, { ...init, signal: AbortSignal.timeout(scanMs) });
      if (response.ok) return null;
      const { error } = (await response.json()) as { readonly error?: string };
      return error ?? 'the simulated phone could not scan the code';
    } catch {
      return 'the simulated platform does not answer';
    }
  },
});

/** The reason why the process could not start: an error of Node or of SQLite. */
interface Failure {
  readonly code: string;
  readonly message: string;
}

const words = ({ code, message }: Failure, { sandboxHost, sandboxPort, dataDir }: Settings): string => {
  if (code === 'EADDRINUSE')
    return `port ${sandboxPort} of ${sandboxHost} is taken, which the simulated platform needs: set SANDBOX_PORT to a free one`;
  if (code === 'ERR_SQLITE_ERROR' && /locked|busy/.test(message))
    return `another simulated platform runs with the data folder ${dataDir}: stop it, or set DATA_DIR to another folder`;
  return `the simulated platform could not start: ${message}`;
};

class SandboxProcess {
  /** WebSocket address for the gateway. */
  readonly url: string;
  readonly page: string;
  readonly phone: SimulatedPhone;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #stopping = false;

  constructor(child: ChildProcess, port: number, log: Log) {
    this.url = `ws://127.0.0.1:${port}/ws/chat`;
    this.page = `http://127.0.0.1:${port}/`;
    this.phone = phoneOf(this.page);
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code) => {
        if (!this.#stopping) log.warn({ code }, 'sandbox.ended');
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    await this.#ended;
  }
}

/**
 * Starts the simulated platform, and resolves when it listens. The child process always ends with this process. Rejects if it cannot start.
 */
export async function forkSandbox(settings: Settings, log: Log): Promise<SandboxProcess> {
  const args = ['--host', settings.sandboxHost, '--port', String(settings.sandboxPort), '--data', join(settings.dataDir, 'platform')];
  if (!isLoopbackAddress(settings.sandboxHost))
    log.warn({ setting: 'SANDBOX_HOST', effect: 'everybody who reaches the simulated platform controls its phones' }, 'sandbox.open');
  const child = fork(new URL('./sandbox/main.ts', import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const port = await new Promise<number>((resolve, reject) => {
    let failure: Failure | null = null;
    child.on('message', (message: { readonly port?: number } | Failure) => {
      if ('code' in message) failure = message;
      else resolve(message.port ?? settings.sandboxPort);
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(failure === null ? `the simulated platform ended at once (code ${code})` : words(failure, settings))),
    );
  });
  child.channel?.unref();
  return new SandboxProcess(child, port, log);
}
