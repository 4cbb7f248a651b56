/** Options of programs that are started from a shell. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * What the program was called with. `--help` prints `usage` and ends with 0; an option that is not known, or that has no value, ends with 2 and
 * says so above the usage.
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
