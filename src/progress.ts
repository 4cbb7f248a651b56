/** Shows the progress of a long copy, and the progress and the result of an import. */
import type { ImportedSession, ImportOutcome } from '#actors/gateway.ts';
import type { Log } from '#actors/ports.ts';
import type { Progress } from './storage/backup/copying.ts';

// Shows the progress of a long copy. A terminal shows one line that is updated, and other outputs get a line every ten seconds.

const copyTerminalMs = 200;
const linesMs = 10_000;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** Prints `stage: 12.0 MB of 340.0 MB, 17 of 1020 files`. The last call of a stage is always shown. */
export const showProgress = (out: NodeJS.WriteStream = process.stdout) => {
  let shown = -Infinity;
  return (stage: string, { files, ofFiles, bytes, ofBytes }: Progress): void => {
    const isLast = files === ofFiles;
    const now = performance.now();
    if (!isLast && now - shown < (out.isTTY ? copyTerminalMs : linesMs)) return;
    shown = now;
    const line = `${stage}: ${megabytes(bytes)} of ${megabytes(ofBytes)}, ${files} of ${ofFiles} files`;
    if (out.isTTY) out.write(`\r\u001b[K${line}${isLast ? '\n' : ''}`);
    else out.write(`${line}\n`);
  };
};

/** Returns a log that writes only warnings and errors to the terminal. */
export const plainLog = (): Log => {
  const say = (fields: object, event: string): void => void process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
  return { debug: () => undefined, info: () => undefined, warn: say, error: say };
};

/** Runs a command to its end. Ctrl-C aborts the signal of the command. A failure prints one sentence and sets the exit code 1. */
export const runCommand = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const ending = new AbortController();
  const stop = (): void => ending.abort(new Error('Interrupted. The same command goes on where it stopped.'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    await work(ending.signal);
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
};

// Shows the progress of an import, and the outcome of each session.

const terminalMs = 100;
const barWidth = 24;

const words: Readonly<Record<ImportOutcome, string>> = {
  imported: 'imported',
  ready: 'can be imported',
  here: 'already here',
  refused: 'refused',
};

const counted = (sessions: readonly ImportedSession[]): string => {
  const counts = Map.groupBy(sessions, ({ outcome }) => outcome);
  return [...counts].map(([outcome, list]) => `${list.length} ${words[outcome]}`).join(', ');
};

/** Draws a bar. A terminal shows one line that is updated, and other outputs get a line every ten seconds. The last call is always shown. */
export const showBar = (total: number, out: NodeJS.WriteStream = process.stdout) => {
  let shown = -Infinity;
  return (sessions: readonly ImportedSession[]): void => {
    const isLast = sessions.length >= total;
    const now = performance.now();
    if (!isLast && now - shown < (out.isTTY ? terminalMs : linesMs)) return;
    shown = now;
    const done = total === 0 ? barWidth : Math.min(barWidth, Math.round((sessions.length / total) * barWidth));
    const line = `[${'#'.repeat(done)}${' '.repeat(barWidth - done)}] ${sessions.length} of ${total} sessions: ${counted(sessions)}`;
    if (out.isTTY) out.write(`\r\u001b[K${line}${isLast ? '\n' : ''}`);
    else out.write(`${line}\n`);
  };
};

/** Joins the answers of two requests about the same sessions. A refusal takes precedence; otherwise the first outcome is kept. */
export const addedUp = (former: readonly ImportedSession[], latter: readonly ImportedSession[]): readonly ImportedSession[] =>
  latter.map((answer, at) => {
    const before = former[at];
    if (before === undefined) return answer;
    const { outcome, reason } = answer.outcome === 'refused' ? answer : before;
    return { ...before, outcome, reason, chats: before.chats + answer.chats, messages: before.messages + answer.messages };
  });

/** Returns the number of added chats and messages as text; '' if none were added. */
const added = ({ chats, messages }: ImportedSession): string =>
  chats + messages === 0 ? '' : `, ${messages} messages and ${chats} chats added`;

const widest = 40;
const cut = (text: string): string => (text.length <= widest ? text : `${text.slice(0, widest - 1)}…`);

const rowsOf = (sessions: readonly ImportedSession[]): readonly (readonly string[])[] => [
  ['Session', 'Number', 'Instance', 'Keys', 'Result'],
  ...sessions.map((session) => [
    cut(session.name),
    session.number,
    session.instance,
    String(session.keys),
    session.outcome === 'refused' ? `refused: ${session.reason}` : words[session.outcome] + added(session),
  ]),
];

/** Formats a table. All cells of a column have the same width. */
export const tableOf = (sessions: readonly ImportedSession[]): string => {
  const rows = rowsOf(sessions);
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** Returns each sentence once, with the names of the sessions that it is about. */
export const sentencesOf = (sessions: readonly ImportedSession[], field: 'notes' | 'lost'): readonly string[] => {
  const about = new Map<string, string[]>();
  for (const session of sessions)
    for (const sentence of session[field]) about.set(sentence, [...(about.get(sentence) ?? []), session.name]);
  return [...about].map(([sentence, names]) =>
    names.length === sessions.length && names.length > 1
      ? `All: ${sentence}.`
      : `${names.slice(0, 3).map(cut).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}: ${sentence}.`,
  );
};
