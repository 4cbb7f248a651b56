/** `npm run soak:year`: what a year leaves, in minutes. Prints a table; ends with 1 when a client waited for more than five seconds. */
import { commandLine } from '#src/command-line.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { runYear } from './year.ts';

const usage = `npm run soak:year -- [--days 365] [--sessions 20] [--messages 300000] [--receipts 300000] [--keys 100000]

Fills a database to this age and runs an upgrade, expiry, a backup, a logout of the largest session and a jump of the clock over it.`;

const option = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = commandLine(
  {
    options: {
      days: option('365'),
      sessions: option('20'),
      messages: option('300000'),
      receipts: option('300000'),
      keys: option('100000'),
    },
  },
  usage,
);
const folder = temporaryFolder();
try {
  const { days, sessions, messages, receipts, keys } = values;
  const sizes = {
    days: Number(days),
    sessions: Number(sessions),
    messages: Number(messages),
    receipts: Number(receipts),
    keys: Number(keys),
  };
  const rows = await runYear({ folder, ...sizes });
  const line = (step: string, seconds: string, slowest: string, outcome: string): string =>
    `${step.padEnd(24)} ${seconds.padStart(8)} ${slowest.padStart(18)}  ${outcome}\n`;
  process.stdout.write(line('step', 'seconds', 'slowest write, ms', 'outcome'));
  for (const { step, took, slowestWrite, outcome } of rows)
    process.stdout.write(line(step, (took / 1000).toFixed(1), slowestWrite === null ? '' : slowestWrite.toFixed(0), outcome));
  if (rows.some(({ slowestWrite }) => (slowestWrite ?? 0) > 5_000)) process.exitCode = 1;
} finally {
  await removeFolder(folder);
}
