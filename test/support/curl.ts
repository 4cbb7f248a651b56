/** Runs `curl -N`, and reads its output while it runs, and its exit code. */
import { spawn, spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { until } from './until.ts';

export const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;

export interface Curl {
  /** Returns the output so far: the head of the answer, then its body. */
  readonly printed: () => string;
  /** Waits until the output has this pattern, `times` times. */
  prints(pattern: RegExp, times?: number): Promise<string>;
  /** A promise of the exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts curl without buffering and with the head of the answer. The process ends with its test. */
export const curl = (t: TestContext, ...args: readonly string[]): Curl => {
  const child = spawn('curl', ['-sSN', '-D', '-', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  t.after(() => {
    child.kill('SIGKILL');
    return ended;
  });
  let text = '';
  const hear = (chunk: Buffer): void => void (text += chunk.toString());
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return {
    printed: () => text,
    async prints(pattern, times = 1) {
      const count = (): number => text.match(new RegExp(pattern.source, 'gm'))?.length ?? 0;
      await until(
        () => count() >= times,
        () => `curl prints ${pattern} ${times} times; it printed:\n${text}`,
        120_000,
      );
      return text;
    },
    ended,
  };
};
