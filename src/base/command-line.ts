/** Options of programs that are started from a shell. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Parses the arguments of the program. `--help` prints `usage` and exits with 0. An unknown option, or one without a value, exits with 2 and prints
 * the error with the first line of the usage. The whole usage would scroll the error away.
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
