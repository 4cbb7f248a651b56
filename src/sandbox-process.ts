/** The simulated platform beside the gateway: a process of its own, because its trust and its keys must never meet live sessions. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Log } from '#actors/ports.ts';
import type { Settings } from '#config/load.ts';

/** What is different by default with a simulated platform; the environment still wins. */
export const sandboxPreset = { DATA_DIR: './data/sandbox', ALLOW_PRIVATE_RECEIVERS: 'loopback' } as const;

export interface SandboxProcess {
  /** WebSocket address for the gateway. */
  readonly url: string;
  readonly page: string;
  stop(): Promise<void>;
}

/** Resolves when it listens. It ends by itself when this process does, however that happens. Rejects when it cannot start. */
export async function forkSandbox(settings: Settings, log: Log): Promise<SandboxProcess> {
  const args = ['--port', String(settings.sandboxPort), '--data', join(settings.dataDir, 'platform')];
  const child = fork(new URL('./sandbox/main.ts', import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { readonly port?: number }) => resolve(message.port ?? settings.sandboxPort));
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(
        new Error(
          `the simulated platform ended at once (code ${code}): either port ${settings.sandboxPort} is in use (SANDBOX_PORT), or another one keeps its data in ${settings.dataDir} (DATA_DIR)`,
        ),
      ),
    );
  });
  let stopping = false;
  child.once('exit', (code) => {
    if (!stopping) log.warn({ code }, 'sandbox.ended');
  });
  child.channel?.unref();
  return {
    url: `ws://127.0.0.1:${port}/ws/chat`,
    page: `http://127.0.0.1:${port}/`,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
}
