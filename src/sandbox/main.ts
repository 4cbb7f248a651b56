/**
 * Runs the simulated platform as a separate process: `--host 127.0.0.1 --port 3001 --data ./data/sandbox [--seed n] [--no-decrypt] [--level info]`.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { commandLine } from '../base/command-line.ts';

const usage = 'Options: --host 127.0.0.1, --port 3001, --data ./data/sandbox, --seed <number>, --no-decrypt, --level info';
const config = {
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '3001' },
    data: { type: 'string', default: './data/sandbox' },
    seed: { type: 'string' },
    'no-decrypt': { type: 'boolean', default: false },
    level: { type: 'string', default: 'info' },
  },
} as const;
const { values } = commandLine(config, usage);

// The compile cache is in the same folder as the gateway's cache. With the cache, a start needs two thirds of the processor time of a start without it. Only
// modules that are imported after this line are cached.
enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'dormouse'));
const [{ pino }, { DEFAULT_CONNECTION_CONFIG }, { startSandbox }, { silenceSignal }] = await Promise.all([
  import('pino'),
  import('@whiskeysockets/baileys'),
  import('./server.ts'),
  import('./silence.ts'),
]);

silenceSignal();
const log = pino({ level: values.level, name: 'sandbox' });
const options = {
  host: values.host,
  port: Number(values.port),
  dataDir: values.data,
  seed: values.seed === undefined ? undefined : Number(values.seed),
  decrypt: !values['no-decrypt'],
  log,
};
const running = await startSandbox(options).catch(async (error: unknown) => {
  log.fatal({ port: values.port, data: values.data, error: String(error) }, 'sandbox.failed');
  const { code = '', message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  const { promise, resolve } = Promise.withResolvers<void>();
  // If the gateway started this process, the gateway reports the failure to the operator.
  if (process.send?.({ type: 'failed', code, message }, () => resolve()) !== undefined) await promise;
  process.exit(1);
});
// Makes `/sw.js` name the version of the installed library. The gateway's look-up of the current version therefore logs no warning.
running.sandbox.requireVersion({ current: DEFAULT_CONNECTION_CONFIG.version.join('.') });
log.info({ port: running.port, data: values.data }, 'sandbox.ready');
process.send?.({ type: 'ready', port: running.port });

let stopping = false;
const stop = async (): Promise<void> => {
  if (stopping) return;
  stopping = true;
  await Promise.race([running.stop(), new Promise((resolve) => setTimeout(resolve, 1500))]);
  process.exit(0);
};
process.once('SIGTERM', () => void stop());
// Ctrl+C reaches the whole process group. A gateway that started this process stops its sessions first, and then this process.
process.on('SIGINT', () => (process.send === undefined ? void stop() : undefined));
process.once('disconnect', () => void stop());
