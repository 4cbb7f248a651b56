/**
 * Answers questions of the bench over IPC from inside a measured process. `--import` loads this file before the unchanged program. The process ends when the
 * bench ends.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { listening, watchStalls, watchStart, watchVariable, type StallWatch } from './stalls.ts';

export interface Question {
  readonly id: number;
  readonly ask: string;
  readonly input: unknown;
}

export type Reply = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

/** The memory of the process after garbage collection. In bytes. */
export interface Memory {
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
}

const answers = new Map<string, (input: never) => unknown>();

/** Adds a question that this process answers. */
export const answer = <I>(ask: string, reply: (input: I) => unknown): void => void answers.set(ask, reply);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Measures the memory after several garbage collections, because finalizers run between collections. */
const memory = async (): Promise<Memory> => {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await pause(250);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed, external };
};

let stalls: StallWatch | null = isMainThread && process.env[watchVariable] !== undefined ? watchStart() : null;
let profiler: Session | null = null;

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
/** The processor time until the first server listened, which `cpu.listening` leaves out. In milliseconds. */
let cpuOfStart = 0;
const noteStart = (): void => {
  cpuOfStart = cpu();
  unsubscribe(listening, noteStart);
};
subscribe(listening, noteStart);

answer('cpu', cpu);
answer('cpu.listening', () => cpu() - cpuOfStart);
answer('memory', memory);
/** Returns the resident memory of the process, including garbage. In bytes. */
answer('resident', () => process.memoryUsage.rss());
let peak = { rss: 0, timer: undefined as NodeJS.Timeout | undefined };
answer('peak.start', () => {
  clearInterval(peak.timer);
  const look = (): void => void (peak.rss = Math.max(peak.rss, process.memoryUsage.rss()));
  peak = { rss: 0, timer: setInterval(look, 5) };
});
/** Returns the largest resident memory since `peak.start`, including garbage. In bytes. */
answer('peak.stop', () => {
  clearInterval(peak.timer);
  return peak.rss;
});
answer('stalls.start', () => void (stalls = watchStalls()));
answer('stalls.stop', () => stalls?.stop() ?? null);
answer('snapshot', (path: string) => writeHeapSnapshot(path));
answer('profile.start', async () => {
  profiler = new Session();
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.setSamplingInterval', { interval: 200 });
  await profiler.post('Profiler.start');
});
answer('profile.stop', async (path: string) => {
  const result = await profiler?.post('Profiler.stop');
  profiler?.disconnect();
  if (result) writeFileSync(path, JSON.stringify(result.profile));
});

const listen = (): void => {
  process.on('message', (question: Question) => {
    const { id, ask, input } = question;
    const reply = (said: Reply): void => void process.send?.(said);
    Promise.resolve()
      .then(() => {
        const found = answers.get(ask);
        if (!found) throw new Error(`nobody answers ${ask}`);
        return found(input as never);
      })
      .then(
        (value) => reply({ id, value }),
        (error: unknown) => reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
};

// Threads of the program load this file too.
if (isMainThread) listen();
