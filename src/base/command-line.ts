/** Options of programs that are started from a shell. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Parses the arguments of the program. `--help` prints `usage` and exits with 0. An unknown option, or one without a value, exits with 2 and prints the
 * error above the usage.
 */
export const commandLine = <const Config extends ParseArgsConfig>(config: Config, usage: string): ReturnType<typeof parseArgs<Config>> => {
  if (process.argv.slice(2).some((one) => one === '--help' || one === '-h')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
    process.exit(2);
  }
};
