/** Converts sessions, chats and messages to lines of an archive and back, and reads such archives. */
import { createReadStream } from 'node:fs';
import { type ArchivedRows, archivedTables, type LeavingSession, type MovedKey } from '#actors/ports.ts';
import { tokenPageType } from '../platform/keys/contact-tokens.ts';
import { decodeKey, encodeCredentials, encodeKey } from '../platform/keys/key-codec.ts';
import { type RunNote, Runs, runType } from '../platform/keys/unclean-runs.ts';
import { openLines } from './archive.ts';
import { isCarried, readCredentials, readJson, readKey } from './library-form.ts';
import { neededPath } from './readers/folder.ts';
import {
  type CarriedSettings,
  type CarriedWebhook,
  type Found,
  type FoundSession,
  type KeyType,
  type Reader,
  type SessionKey,
  SourceFault,
  type SourceOptions,
  type SourceState,
} from './session.ts';
import { headersOf, recordOf, textOf, textsOf, webhookOf } from './settings.ts';

// Converts chats and messages to lines of an archive and back. Each line contains rows of one table. The last line has the number of all rows.

/** Largest length of a line, in characters. Only a line with a single large row may be longer. */
const lineCharacters = 512 << 10;

const damaged = new SourceFault('The archive is damaged');

const lineIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged;
  }
};

type RowLine = Partial<ArchivedRows> & { readonly endOfRows?: number };

/** Yields batches of rows as lines of bounded length. The last line counts all rows. */
export async function* linesOfRows(pieces: AsyncIterable<ArchivedRows>): AsyncIterable<string> {
  let total = 0;
  for await (const { of, rows } of pieces) {
    total += rows.length;
    let [texts, size]: [string[], number] = [[], 0];
    for (const row of rows) {
      const text = JSON.stringify(row);
      if (texts.length > 0 && size + text.length > lineCharacters) {
        yield `{"of":"${of}","rows":[${texts.join()}]}`;
        [texts, size] = [[], 0];
      }
      texts.push(text);
      size += text.length;
    }
    if (texts.length > 0) yield `{"of":"${of}","rows":[${texts.join()}]}`;
  }
  yield JSON.stringify({ endOfRows: total } satisfies RowLine);
}

/** The lines of one part of a session: its keys, or its rows. `ended` is true after the last line of the part. */
interface Part {
  ended: boolean;
}

/** Skips the unread lines of a part. Lines are unread if the caller never started to read the part, if it stopped early, or if the read failed. */
const skipRest = async (lines: AsyncIterator<string>, part: Part, last: 'end' | 'endOfRows'): Promise<void> => {
  while (!part.ended) {
    const { value, done } = await lines.next();
    if (done === true) throw damaged;
    part.ended = (lineIn(value) as Record<string, unknown>)[last] !== undefined;
  }
};

/** Reads the rows of one session up to the line that counts them. Throws `SourceFault` if rows are missing. */
export async function* rowsIn(lines: AsyncIterator<string>, part: Part): AsyncIterable<ArchivedRows> {
  for (let count = 0; ;) {
    const { value, done } = await lines.next();
    if (done === true) throw damaged;
    const { of, rows, endOfRows } = lineIn(value) as RowLine;
    if (endOfRows !== undefined) {
      part.ended = true;
      if (endOfRows !== count) throw damaged;
      return;
    }
    const table = archivedTables.find((known) => known === of);
    if (table === undefined || !Array.isArray(rows)) throw damaged;
    count += rows.length;
    yield { of: table, rows: rows.filter((row) => typeof row === 'object' && row !== null) };
  }
}

// Sessions as lines of an archive, and back. A session is a line with its credentials, lines with its keys, and a line with the number of keys. If the first
// line announces chats and messages, their lines follow, and then a line with the number of rows.

/** The largest number of keys in one line. */
const keysOfLine = 50;

/** The first line of a session. */
interface Head {
  readonly session: {
    readonly name: string;
    readonly credentials: string;
    readonly state: SourceState;
    readonly notes: readonly string[];
    /** See `FoundSession`. Earlier versions do not write this field. */
    readonly endedAt?: number;
  };
  readonly settings: CarriedSettings;
  /** True if rows follow the keys. */
  readonly rows?: boolean;
}

/** Yields the lines of keys. `notes` returns the sentences that are known after the keys were read. */
async function* keyLines(keys: AsyncIterable<MovedKey>, notes: () => readonly string[] = () => []): AsyncIterable<string> {
  let [line, count]: [(readonly [string, string, string])[], number] = [[], 0];
  for await (const { type, id, value } of keys) {
    count += line.push([type, id, value]) > 0 ? 1 : 0;
    if (line.length < keysOfLine) continue;
    yield JSON.stringify({ keys: line });
    line = [];
  }
  if (line.length > 0) yield JSON.stringify({ keys: line });
  yield JSON.stringify({ end: count, ...(notes().length > 0 && { notes: notes() }) });
}

async function* inText(keys: AsyncIterable<SessionKey>): AsyncIterable<MovedKey> {
  for await (const { type, id, value } of keys) yield { type, id, value: encodeKey(value) };
}

/** Yields the lines of a session that a reader found. If the session has rows, their lines must follow (see `linesOfRows`). */
export async function* linesOfFound({ name, creds, keys, settings, state, notes, endedAt, rows }: FoundSession): AsyncIterable<string> {
  const session = { name, credentials: encodeCredentials(creds), state, notes, ...(endedAt !== undefined && { endedAt }) };
  yield JSON.stringify({ session, settings, ...(rows && { rows: true }) } satisfies Head);
  const known = notes.length;
  yield* keyLines(inText(keys()), () => notes.slice(known));
}

/**
 * Yields keys in the form of the client library, without values that only this gateway stores. The list of people with a privacy token is stored in pages, and
 * becomes one key again. Sending chains of an unclean run are moved forward, as a start of the session would do.
 */
async function* libraryKeys(stored: AsyncIterable<MovedKey>): AsyncIterable<MovedKey> {
  let runs = new Runs(null, () => undefined);
  const names: unknown[] = [];
  for await (const { type, id, value } of stored) {
    if (type === runType) runs = new Runs(decodeKey(type, value) as RunNote, () => undefined);
    else if (type === tokenPageType) names.push(...(decodeKey(type, value) as readonly unknown[]));
    else if (isCarried(type as KeyType)) yield { type, id, value: encodeKey(runs.unstamp(type, decodeKey(type, value)).value) };
  }
  if (names.length > 0) yield { type: 'tctoken', id: '__index', value: encodeKey({ token: Buffer.from(JSON.stringify(names)) }) };
}

/** Yields the lines of a session that this gateway stores. */
export async function* linesOfLeaving({
  name,
  token,
  proxy,
  webhooks,
  settings,
  lost,
  credentials,
  endedAt,
  keys,
  rows,
}: LeavingSession): AsyncIterable<string> {
  const carried: CarriedSettings = { token, proxy, webhooks, lost, own: settings };
  const session = { name, credentials, state: 'stopped', notes: [], ...(endedAt !== null && { endedAt }) } as const;
  yield JSON.stringify({ session, settings: carried, ...(rows && { rows: true }) } satisfies Head);
  yield* keyLines(libraryKeys(keys()));
  if (rows) yield* linesOfRows(rows());
}

type Line = Partial<Head> & {
  readonly keys?: readonly (readonly [KeyType, string, string])[];
  readonly end?: number;
  readonly notes?: readonly string[];
};

const lineOf = (text: string): Line => lineIn(text) as Line;

/** Yields the keys of one session up to its last line. The sentences of that line are added to `notes`. */
async function* keysOf(lines: AsyncIterator<string>, notes: string[], part: Part): AsyncIterable<SessionKey> {
  for (let count = 0; ;) {
    const { value, done } = await lines.next();
    if (done === true) throw damaged;
    const { keys, end, notes: late = [] } = lineOf(value);
    if (end !== undefined) {
      part.ended = true;
      if (end !== count) throw damaged;
      notes.push(...textsOf(late));
      return;
    }
    for (const [type, id, text] of keys ?? []) {
      count += 1;
      const key = isCarried(type) ? readKey(type, id, readJson(text, `a ${type}`)) : null;
      if (key !== null) yield key;
    }
  }
}

const switches = ['enabled', 'addUrlEvents', 'addUrlTypesMessages'] as const;

const webhookIn = (value: unknown): CarriedWebhook | null => {
  const given = recordOf(value);
  const flags = Object.fromEntries(switches.map((name) => [name, given[name] === true])) as Record<(typeof switches)[number], boolean>;
  return webhookOf({
    ...flags,
    url: textOf(given['url']),
    events: textsOf(given['events']),
    excludeMessages: textsOf(given['excludeMessages']),
    secret: textOf(given['secret']),
    headers: headersOf(given['headers']),
  });
};

/** Reads settings, which another version of this program may have written. */
const settingsIn = (value: unknown): CarriedSettings => {
  const { token, proxy, webhooks, lost, own } = recordOf(value);
  return {
    token: textOf(token),
    proxy: textOf(proxy),
    webhooks: Array.isArray(webhooks) ? webhooks.map(webhookIn).filter((webhook) => webhook !== null) : [],
    lost: textsOf(lost),
    own: recordOf(own),
  };
};

const states: readonly SourceState[] = ['loggedOut', 'connected', 'stopped', 'unknown'];

const sessionOf = ({ session, settings }: Head, { notes, keys, rows }: Pick<FoundSession, 'notes' | 'keys' | 'rows'>): Found => {
  const given = recordOf(session);
  const [name, credentials] = [textOf(given['name']), textOf(given['credentials'])];
  const { endedAt } = given;
  try {
    return {
      found: 'session',
      name,
      creds: readCredentials(readJson(credentials, 'the credentials')),
      keys,
      settings: settingsIn(settings),
      state: states.find((state) => state === given['state']) ?? 'unknown',
      notes,
      ...(typeof endedAt === 'number' && { endedAt }),
      ...(rows && { rows }),
    };
  } catch (error) {
    if (error instanceof SourceFault) return { found: 'refused', name, reason: error.message };
    throw error;
  }
};

/** Reads sessions from the lines of an archive. Keys and rows that the caller did not read are skipped before the next session. */
export async function* sessionsIn(text: AsyncIterable<string>): AsyncIterable<Found> {
  const lines = text[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) return;
      const { session, settings, rows: hasRows = false } = lineOf(value);
      if (session === undefined || settings === undefined) throw damaged;
      const notes = [...textsOf(recordOf(session)['notes'])];
      const [keyPart, rowPart] = [{ ended: false }, { ended: !hasRows }];
      const keys = () => keysOf(lines, notes, keyPart);
      const rows = async function* (): AsyncIterable<ArchivedRows> {
        await skipRest(lines, keyPart, 'end');
        yield* rowsIn(lines, rowPart);
      };
      yield sessionOf({ session, settings }, { notes, keys, ...(hasRows && { rows }) });
      await skipRest(lines, keyPart, 'end');
      await skipRest(lines, rowPart, 'endOfRows');
    }
  } finally {
    await lines.return?.();
  }
}

// Archives that `npm run export` of this gateway makes.

const read = (options: SourceOptions): AsyncIterable<Found> => {
  const path = neededPath(options);
  if (options.secret === null) throw new SourceFault('The passphrase of the archive is missing');
  return sessionsIn(openLines(createReadStream(path, { signal: options.signal }), options.secret));
};

export const archiveReader: Reader = {
  title: 'an archive of another Dormouse (npm run export)',
  examples: ['npm run import -- --from dormouse --path ./sessions.dormouse'],
  upload: { kind: 'file', takes: 'an archive that Dormouse exported' },
  read,
};
