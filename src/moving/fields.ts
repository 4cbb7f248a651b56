/** Sessions in stores of named texts: the fields of a Redis hash, or the rows of a table. */
import { readFile, stat } from 'node:fs/promises';
import { isCarried, readCredentials, readJson, readKey, splitName } from './library-form.ts';
import { type Found, noSettings, type SessionKey, SourceFault, type CarriedSettings, type SourceState } from './session.ts';

/** Field by field, each a text. */
export type Hash = Readonly<Record<string, unknown>>;

/** Keys out of fields `<type>-<id>`. */
export async function* keysInFields(fields: AsyncIterable<readonly [string, unknown]>): AsyncIterable<SessionKey> {
  for await (const [field, text] of fields) {
    const name = field === 'creds' ? null : splitName(field);
    if (name === null || !isCarried(name.type)) continue;
    const value = typeof text === 'string' ? readJson(text, `a ${name.type}`) : text;
    if (value === null || value === undefined) continue;
    const key = readKey(name.type, name.id, value);
    if (key === null) throw new SourceFault(`a ${name.type} of the store holds something else`);
    yield key;
  }
}

export interface FieldFacts {
  readonly name: string;
  readonly settings?: CarriedSettings;
  readonly state?: SourceState;
  readonly notes?: readonly string[];
}

/** A session whose credentials are a text, and whose keys are read when they are asked for. */
export const sessionOfFields = (creds: unknown, keys: () => AsyncIterable<SessionKey>, facts: FieldFacts): Found => {
  const { name, settings = noSettings, state = 'unknown', notes = [] } = facts;
  try {
    if (typeof creds !== 'string') throw new SourceFault('the store has no credentials of the session');
    return { found: 'session', name, creds: readCredentials(readJson(creds, 'the credentials')), keys, settings, state, notes };
  } catch (error) {
    if (error instanceof SourceFault) return { found: 'refused', name, reason: error.message };
    throw error;
  }
};

export async function* entriesOf(hash: Hash): AsyncIterable<readonly [string, unknown]> {
  yield* Object.entries(hash);
}

/** A dump is read into memory. */
const largestDump = 1 << 30;

const isHash = (value: unknown): value is Hash => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A dump of Redis: hashes by their keys, as JSON. Throws `SourceFault` for anything else. */
export const readDump = async (path: string): Promise<Readonly<Record<string, Hash>>> => {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) throw new SourceFault('The dump of Redis is no file');
  if (found.size > largestDump) throw new SourceFault(`The dump of Redis is larger than ${largestDump >> 20} MB`);
  const dump = readJson(await readFile(path, 'utf8'), 'The dump of Redis');
  if (!isHash(dump) || !Object.values(dump).every(isHash))
    throw new SourceFault('The dump of Redis is no JSON object of hashes by their keys');
  return dump as Readonly<Record<string, Hash>>;
};
