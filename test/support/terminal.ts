/** Runs the commands of the documents in a bash, as a user would: in a folder of their own, on free ports. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import { freePort, isFree } from './ports.ts';
import { signalTo, temporaryFolder } from './processes.ts';

const documented = [3000, 3001, 4000];

/** Returns replacements for the ports of the README that are in use. Only one test may use this, because a second one would see the same ports as free. */
export const choosePorts = async (): Promise<ReadonlyMap<number, number>> => {
  const ports = new Map<number, number>();
  for (const wanted of documented) ports.set(wanted, (await isFree(wanted)) ? wanted : await freePort());
  return ports;
};

/** Returns free replacements for all ports of the README. */
export const otherPorts = async (): Promise<ReadonlyMap<number, number>> => {
  const ports = new Map<number, number>();
  for (const wanted of documented) ports.set(wanted, await freePort());
  return ports;
};

export const withPorts = (commands: string, ports: ReadonlyMap<number, number>): string =>
  [...ports].reduce(
    (text, [from, to]) => text.replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`).replaceAll(`listen(${from}`, `listen(${to}`),
    commands,
  );

/** Creates a folder in which `npm run` finds the project. Data and logs of the commands stay in the folder. */
export const makeFolder = (): string => {
  const folder = temporaryFolder();
  for (const name of ['actors', 'config', 'src', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  return folder;
};

const blockLimit = 180_000;

/** A bash process that stays open and runs blocks of commands. */
export class Terminal {
  readonly #cwd: string;
  readonly #bash: ChildProcessWithoutNullStreams;
  #output = '';
  #heard: () => void = () => undefined;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    this.#cwd = cwd;
    this.#bash = spawn('bash', ['-eu'], { cwd, env, detached: true });
    const hear = (chunk: Buffer): void => {
      this.#output += chunk.toString();
      this.#heard();
    };
    this.#bash.stdout.on('data', hear);
    this.#bash.stderr.on('data', hear);
    this.#bash.once('exit', () => this.#heard());
  }

  /** Runs a block of commands. Returns its output. Rejects if a command fails, or if the block does not end. */
  paste(commands: string): Promise<string> {
    const done = `block-${Math.random().toString(36).slice(2)}`;
    this.#output = '';
    if (this.#bash.exitCode !== null) return Promise.reject(new Error('bash has ended'));
    this.#bash.stdin.write(`${commands}\necho ${done}\n`);
    return new Promise((resolve, reject) => {
      const finish = (error: string | null): void => {
        clearTimeout(limit);
        this.#heard = () => undefined;
        if (error === null) resolve(this.#output.slice(0, this.#output.indexOf(done)));
        else reject(new Error(`${error}:\n${commands}\nIt printed:\n${this.#output}\nThe gateway:\n${this.#log()}`));
      };
      const limit = setTimeout(() => finish('this block did not end'), blockLimit);
      this.#heard = () => {
        if (this.#output.includes(done)) finish(null);
        else if (this.#bash.exitCode !== null) finish(`bash ended with ${this.#bash.exitCode} in this block`);
      };
    });
  }

  #log(): string {
    const path = join(this.#cwd, 'gateway.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** Ends the bash and all processes that were started in it. */
  close(): void {
    signalTo(-Number(this.#bash.pid), 'SIGKILL');
  }
}
