/** Runs a program at a pseudo-terminal, as a person does. The terminal is made by `script` of util-linux. */
import { spawn, spawnSync } from 'node:child_process';
import { root } from '#test/source-tree.ts';
import { until } from './until.ts';

/** True if the machine has `script`. */
export const hasScript = spawnSync('script', ['--version']).status === 0;

const quoted = (arg: string): string => `'${arg.replaceAll("'", String.raw`'\''`)}'`;

export class PseudoTerminal {
  readonly #child;
  #shown = '';

  /** Starts Node with these arguments in the folder of the project. */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const command = `${[process.execPath, ...args].map(quoted).join(' ')}; echo "ended with $?"`;
    this.#child = spawn('script', ['-qc', command, '/dev/null'], { cwd: root, env: { PATH: process.env['PATH'] ?? '', ...env } });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on('data', (chunk: Buffer) => (this.#shown += chunk.toString()));
  }

  /** Returns all text that the screen has shown, with the echo of the input. */
  get shown(): string {
    return this.#shown;
  }

  /** Waits for a prompt on the screen, and then types a line. */
  async answer(prompt: string, line: string): Promise<void> {
    await until(
      () => this.#shown.includes(prompt),
      () => `the prompt "${prompt}"; the screen shows:\n${this.#shown}`,
    );
    this.#child.stdin.write(`${line}\r`);
  }

  /** Waits until the program ends. Returns its exit code. `script` itself waits for the end of its input. */
  async ended(): Promise<number> {
    const code = (): string | undefined => /^ended with (\d+)/m.exec(this.#shown)?.[1];
    return Number(await until(code, () => `the program ends; the screen shows:\n${this.#shown}`));
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}
