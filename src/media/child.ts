/** Runs a program of the machine on a file: alone in its group, with an end, and with nothing of our environment. */
import { spawn } from 'node:child_process';

export interface ChildTask {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Kills the program. */
  readonly signal: AbortSignal;
  /** Gets its output, in pieces. */
  readonly onOutput: (bytes: Buffer) => void;
}

export interface ChildEnd {
  readonly code: number | null;
  /** The end of what it complained of. It may name files: not for users. */
  readonly complaint: string;
}

const longestComplaint = 4_096;

const kill = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
};

/** Process ids of running programs. If this process exits without a stop, they are ended with it. */
const running = new Set<number>();
process.on('exit', () => {
  for (const pid of running) kill(pid);
});

/** Resolves when it has ended, with all that it started. Rejects with the reason of the signal when it was killed by that, and when it cannot be started. */
export const runChild = async ({ program, args, cwd, signal, onOutput }: ChildTask): Promise<ChildEnd> => {
  signal.throwIfAborted();
  const child = spawn(program, args, { cwd, env: { LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  child.stdout.on('data', onOutput);
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => void (complaint = (complaint + chunk.toString('latin1')).slice(-longestComplaint)));
  const { pid } = child;
  const stop = (): void => {
    if (pid !== undefined) kill(pid);
  };
  if (pid !== undefined) running.add(pid);
  signal.addEventListener('abort', stop);
  try {
    const code = await promise;
    signal.throwIfAborted();
    return { code, complaint };
  } finally {
    signal.removeEventListener('abort', stop);
    if (pid !== undefined) running.delete(pid);
  }
};
