/** Shows how far a long copy is: in place on a terminal, else a line every ten seconds. */
import type { Log } from '#actors/ports.ts';
import type { Progress } from './storage/backup/copying.ts';

const terminalMs = 200;
const linesMs = 10_000;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** Prints `stage: 12.0 MB of 340.0 MB, 17 of 1020 files`. The last call of a stage is always shown. */
export const showProgress = (out: NodeJS.WriteStream = process.stdout) => {
  let shown = -Infinity;
  return (stage: string, { files, ofFiles, bytes, ofBytes }: Progress): void => {
    const isLast = files === ofFiles;
    const now = performance.now();
    if (!isLast && now - shown < (out.isTTY ? terminalMs : linesMs)) return;
    shown = now;
    const line = `${stage}: ${megabytes(bytes)} of ${megabytes(ofBytes)}, ${files} of ${ofFiles} files`;
    if (out.isTTY) out.write(`\r\u001b[K${line}${isLast ? '\n' : ''}`);
    else out.write(`${line}\n`);
  };
};

/** Warnings and errors alone: what a person at a terminal has to know. */
export const plainLog = (): Log => {
  const say = (fields: object, event: string): void => void process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
  return { debug: () => undefined, info: () => undefined, warn: say, error: say };
};

/** Runs a command to its end. Ctrl-C ends it in order; a failure is one sentence and the exit code 1. */
export const runCommand = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const ending = new AbortController();
  const stop = (): void => ending.abort(new Error('Interrupted. The same command goes on where it stopped.'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    await work(ending.signal);
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
};
