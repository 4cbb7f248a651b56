/** Helpers of command-line programs: they parse options, and read secrets without showing them. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs, type ParseArgsConfig } from 'node:util';

// Options of command-line programs.

/**
 * Parses the arguments of the program. `--help` prints `usage` and exits with 0. An unknown option, or an option without its value, prints the error with the
 * first line of the usage, and exits with 2. The whole usage is not printed, because the error would scroll off the screen.
 */
export const commandLine = <const Config extends ParseArgsConfig>(config: Config, usage: string): ReturnType<typeof parseArgs<Config>> => {
  if (process.argv.slice(2).some((one) => one === '--help' || one === '-h')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const [first = ''] = usage.split('\n');
    process.stderr.write(`${first}\n--help describes all options.\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
};

// Secrets from the terminal and from files.

/** Asks for a secret at the terminal, without showing it. Returns null if the input is not a terminal. */
export const askSecret = async (question: string): Promise<string | null> => {
  if (!process.stdin.isTTY) return null;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // The interface hides the input. The prompt follows, because a person may type as soon as the prompt is shown.
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    process.stderr.write(question);
    return (await terminal.question('')).trim();
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
};

/** Reads a secret from a file, without the line break at its end. */
export const secretIn = async (path: string): Promise<string> => (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
