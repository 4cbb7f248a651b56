/** Runs `npm run soak:year`: the data of a year, in minutes. Prints a table. The exit code is 1 if a client waited for more than five seconds. */
import { commandLine } from '#src/base/command-line.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { runYear } from './year.ts';

const usage = `npm run soak:year -- [--days 365] [--sessions 20] [--messages 300000] [--receipts 300000] [--keys 100000] [--traffic 500]

Fills a database to this age, and runs an upgrade, a jump of the clock, a backup, a restore, expiry and a logout of the largest session over it, while a
gateway works on it.`;

const option = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = commandLine(
  {
    options: {
      days: option('365'),
      sessions: option('20'),
      messages: option('300000'),
      receipts: option('300000'),
      keys: option('100000'),
      traffic: option('500'),
    },
  },
  usage,
);
const folder = temporaryFolder();
try {
  const { days, sessions, messages, receipts, keys, traffic } = values;
  const sizes = {
    days: Number(days),
    sessions: Number(sessions),
    messages: Number(messages),
    receipts: Number(receipts),
    keys: Number(keys),
    traffic: Number(traffic),
  };
  const rows = await runYear({ folder, ...sizes });
  const line = (step: string, seconds: string, slowest: string, log: string, outcome: string): string =>
    `${step.padEnd(24)} ${seconds.padStart(8)} ${slowest.padStart(18)} ${log.padStart(8)}  ${outcome}\n`;
  process.stdout.write(line('step', 'seconds', 'slowest write, ms', 'WAL, MB', 'outcome'));
  for (const { step, took, slowestWrite, log, outcome } of rows) {
    const slowest = slowestWrite === null ? '' : slowestWrite.toFixed(0);
    process.stdout.write(line(step, (took / 1000).toFixed(1), slowest, (log / 1e6).toFixed(1), outcome));
  }
  if (rows.some(({ slowestWrite }) => (slowestWrite ?? 0) > 5_000)) process.exitCode = 1;
} finally {
  await removeFolder(folder);
}
