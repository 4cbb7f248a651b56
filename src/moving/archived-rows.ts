/** Chats and messages as lines of an archive, and back: lines with rows of one table each, and a line that counts all rows. */
import { archivedTables, type ArchivedRows } from '#actors/ports.ts';
import { SourceFault } from './session.ts';

/** Characters of a line, unless one row alone has more. */
const lineCharacters = 512 << 10;

export const damaged = new SourceFault('The archive is damaged');

export const lineIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged;
  }
};

type Line = Partial<ArchivedRows> & { readonly endOfRows?: number };

/** Splits pieces into lines of bounded length. */
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
  yield JSON.stringify({ endOfRows: total } satisfies Line);
}

/** Reads the rows of one session up to the line that counts them. Throws `SourceFault` if rows are missing. */
export async function* rowsIn(lines: AsyncIterator<string>): AsyncIterable<ArchivedRows> {
  for (let count = 0; ;) {
    const { value, done } = await lines.next();
    if (done === true) throw damaged;
    const { of, rows, endOfRows } = lineIn(value) as Line;
    if (endOfRows !== undefined) {
      if (endOfRows !== count) throw damaged;
      return;
    }
    const table = archivedTables.find((known) => known === of);
    if (table === undefined || !Array.isArray(rows)) throw damaged;
    count += rows.length;
    yield { of: table, rows: rows.filter((row) => typeof row === 'object' && row !== null) };
  }
}
