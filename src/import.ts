/** `npm run import`: imports sessions of another gateway into this gateway. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ArchivedRows } from '#actors/ports.ts';
import { refusedSession, type ImportedSession } from '#actors/views/moving.ts';
import { type AdminClient, openAdminClient } from './admin-client.ts';
import { addedUp, runCommand, sentencesOf, showBar, tableOf } from './progress.ts';
import { askSecret, commandLine, secretIn } from './base/command-line.ts';
import { sealLines } from './moving/archive.ts';
import { linesOfFound, linesOfRows } from './moving/archived.ts';
import { reasonOf } from './moving/readers/folder.ts';
import { readers } from './moving/readers.ts';
import type { Found, FoundSession, Reader, SourceOptions } from './moving/session.ts';

const sources = Object.entries(readers).map(
  ([name, { title, examples }]) => `  ${name.padEnd(16)}${title}\n${examples.map((example) => `${' '.repeat(18)}${example}`).join('\n')}`,
);

const usage = `npm run import -- --from SOURCE [--path PATH] [--url ADDRESS] [OPTIONS]

Takes sessions of another gateway over into the running one (settings HOST, PORT and ADMIN_TOKEN), without a QR code. They are imported disconnected.
Nothing of the source is changed. The same import twice changes nothing. Stop the source for good before you connect a session here: two gateways on
one device replace each other.

Sources:
${sources.join('\n')}

Options:
  --path PATH             file or folder of the source
  --url ADDRESS           address of the source's database
  --keys PLACE            where the Signal keys lie apart: a folder, a file or the address of a database
  --passphrase-file FILE  file with the passphrase of an archive, or with the key of sealed fields; --secret-file is the same
  --only NAME             imports this session alone; may be repeated
  --into INSTANCE         id or name of the instance to be filled, for one session
  --dry-run               says for each session what would happen, and changes nothing
  --connect               connects the sessions afterwards, one by one
  --to ADDRESS            address of the gateway`;

const { values } = commandLine(
  {
    options: {
      from: { type: 'string' },
      path: { type: 'string' },
      url: { type: 'string' },
      keys: { type: 'string' },
      'passphrase-file': { type: 'string' },
      'secret-file': { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      into: { type: 'string', default: '' },
      'dry-run': { type: 'boolean', default: false },
      connect: { type: 'boolean', default: false },
      to: { type: 'string' },
    },
  },
  usage,
);

/** Bounds of one request. The sessions of one request need some megabytes of memory on each side. The gateway needs some ten seconds to store the rows. */
const batch = { sessions: 15, characters: 4 << 20, rows: 20_000 };
/** The longest wait of the command for a session to connect. In milliseconds. */
const connectMs = 60_000;

/** Yields no rows, because a dry run sends none. */
async function* noRows(): AsyncIterable<ArchivedRows> {}

const isWanted = ({ name }: Found): boolean => values.only.length === 0 || values.only.includes(name);

/** Sends a batch, sealed with a passphrase that is made for this request. The gateway then keeps no plain text on its disk. */
const sendBatch = async (client: AdminClient, lines: readonly string[], signal: AbortSignal): Promise<readonly ImportedSession[]> => {
  const passphrase = randomBytes(24).toString('base64url');
  const pieces: Uint8Array[] = [];
  const all = (async function* () {
    yield* lines;
  })();
  for await (const piece of sealLines(all, passphrase)) pieces.push(piece);
  return client.importArchive(Buffer.concat(pieces), { passphrase, dryRun: values['dry-run'], into: values.into, signal });
};

/** Divides a stream of row batches into requests. `next` yields batches until a request is full. */
class Portions {
  readonly #pieces: AsyncIterator<ArchivedRows>;
  /** True if the stream has no more batches. */
  isEnd = false;
  /** The error that ended the reading. */
  fault: unknown = null;

  constructor(pieces: AsyncIterable<ArchivedRows>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async *next(): AsyncIterable<ArchivedRows> {
    for (let count = 0; count < batch.rows && !this.isEnd;) {
      const { value, done } = await this.#pieces.next().catch((error: unknown) => {
        this.fault = error;
        throw error;
      });
      this.isEnd = done === true;
      if (this.isEnd) return;
      count += (value as ArchivedRows).rows.length;
      yield value as ArchivedRows;
    }
  }
}

/**
 * Sends one session with its chats and messages, in as many requests as the rows need. From the second request on, the gateway already has the session, and
 * only adds the rows. Only one batch of rows is in memory at a time.
 */
const sendWithRows = async (
  client: AdminClient,
  lines: readonly string[],
  rows: AsyncIterable<ArchivedRows>,
  signal: AbortSignal,
): Promise<readonly ImportedSession[]> => {
  const portions = new Portions(rows);
  let all: readonly ImportedSession[] = [];
  do {
    const passphrase = randomBytes(24).toString('base64url');
    async function* text(): AsyncIterable<string> {
      yield* lines;
      yield* linesOfRows(portions.next());
    }
    const options = { passphrase, dryRun: values['dry-run'], into: values.into, signal };
    const answers = await client.importArchive(sealLines(text(), passphrase, 2), options).catch((error: unknown) => {
      // If reading the source fails, the request ends. The error of the source is more useful than the error of the request.
      throw portions.fault ?? error;
    });
    all = addedUp(all, answers);
  } while (!portions.isEnd && all.every(({ outcome }) => outcome !== 'refused'));
  return all;
};

/** Returns the lines of one session, or the reason why the session cannot be read. */
const linesOf = async (session: FoundSession, signal: AbortSignal): Promise<string[] | string> => {
  const lines: string[] = [];
  try {
    for await (const line of linesOfFound(session)) lines.push(line);
    return lines;
  } catch (error) {
    signal.throwIfAborted();
    return reasonOf(error);
  }
};

/**
 * Imports all wanted sessions. Adds the outcome of each session to `outcomes`. If the import ends with an error, `outcomes` has the sessions before the error.
 */
async function importAll(reader: Reader, options: SourceOptions, client: AdminClient, outcomes: ImportedSession[]): Promise<void> {
  const names: string[] = [];
  for await (const found of reader.read(options)) if (isWanted(found)) names.push(found.name);
  const missing = values.only.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`The source has no session named ${missing.join(', ')}. Nothing was imported.`);
  const show = showBar(names.length);
  let [lines, sessions, size]: [string[], number, number] = [[], 0, 0];
  // The next sessions are read while the gateway stores the batch before them.
  let sending: Promise<void> = Promise.resolve();
  const send = async (): Promise<void> => {
    await sending;
    const batched = lines;
    const sent = sessions === 0 ? Promise.resolve([]) : sendBatch(client, batched, options.signal);
    sending = sent.then((answers) => {
      outcomes.push(...answers);
      show(outcomes);
    });
    sending.catch(() => undefined);
    [lines, sessions, size] = [[], 0, 0];
  };
  for await (const found of reader.read(options)) {
    options.signal.throwIfAborted();
    if (!isWanted(found)) continue;
    const text = found.found === 'session' ? await linesOf(found, options.signal) : found.reason;
    if (typeof text === 'string') outcomes.push(refusedSession({ name: found.name, reason: text }));
    else if (found.found === 'session' && found.rows) {
      await send();
      await sending;
      outcomes.push(...(await sendWithRows(client, text, values['dry-run'] ? noRows() : found.rows(), options.signal)));
      show(outcomes);
    } else {
      lines = [...lines, ...text];
      sessions += 1;
      size += text.reduce((sum, line) => sum + line.length, 0);
    }
    if (sessions >= batch.sessions || size >= batch.characters) await send();
  }
  await send();
  await sending;
}

/** Waits until the session is connected or has ended, or until `connectMs` is over. */
const connected = async (client: AdminClient, token: string, signal: AbortSignal): Promise<string> => {
  let { status, reason } = await client.connect(token);
  for (const end = performance.now() + connectMs; status === 'connecting' && performance.now() < end;) {
    await wait(250, undefined, { signal });
    ({ status, reason } = await client.status(token));
  }
  return status === 'disconnected' && reason !== '' ? `${status}, ${reason}` : status;
};

/** Connects the sessions, and prints the outcome of each. A session that does not connect sets the exit code 1. */
const connectAll = async (client: AdminClient, sessions: readonly ImportedSession[], signal: AbortSignal): Promise<void> => {
  for (const { name, token } of sessions.filter((session) => session.token !== '' && session.outcome !== 'refused')) {
    const outcome = await connected(client, token, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      return error instanceof Error ? error.message : String(error);
    });
    if (outcome !== 'connected') process.exitCode = 1;
    process.stdout.write(`${name}: ${outcome}\n`);
  }
};

const secretOf = async (): Promise<string | null> => {
  const file = values['passphrase-file'] ?? values['secret-file'];
  if (file !== undefined) return secretIn(file);
  return values.from === 'dormouse' ? askSecret('Passphrase of the archive: ') : null;
};

const report = (outcomes: readonly ImportedSession[]): void => {
  const part = (title: string, sentences: readonly string[]): string =>
    sentences.length === 0 ? '' : `\n${title}\n${sentences.map((sentence) => `- ${sentence}\n`).join('')}`;
  const [notes, lost] = [sentencesOf(outcomes, 'notes'), sentencesOf(outcomes, 'lost')];
  process.stdout.write(`\n${tableOf(outcomes)}\n${part('Before you connect:', notes)}${part('Settings that are not taken over:', lost)}`);
};

await runCommand(async (signal) => {
  const reader = values.from !== undefined && Object.hasOwn(readers, values.from) ? readers[values.from] : undefined;
  if (reader === undefined)
    throw new Error(`--from must be one of ${Object.keys(readers).join(', ')}. \`npm run import -- --help\` describes them.`);
  const { path = null, url = null, keys = null } = values;
  const options = { path, url, keys, secret: await secretOf(), signal };
  const client = await openAdminClient(values.to ?? null);
  const outcomes: ImportedSession[] = [];
  await importAll(reader, options, client, outcomes).catch((error: unknown) => {
    if (outcomes.length > 0) report(outcomes);
    throw error;
  });
  if (outcomes.length === 0) throw new Error('No session was found.');
  report(outcomes);
  if (values.connect && !values['dry-run']) await connectAll(client, outcomes, signal);
  if (outcomes.some(({ outcome }) => outcome === 'refused')) process.exitCode = 1;
});
