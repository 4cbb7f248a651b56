/** Reads the cells of CSV files (RFC 4180) in linear time. The functions are pure, so tests run them outside a browser too. */

/** The largest number of columns. A wider file is not a list of people. */
const mostColumns = 200;

/** The largest number of rows. A campaign may have half as many recipients. A file may have more rows, because rows with errors are no recipients. */
const mostRows = 200_000;

/** The reason why a list cannot be read. `reason` is the name of the sentence for the page, and `values` are the facts in it. */
export class ListError extends Error {
  /** @param {'campaignListQuote' | 'campaignListWide' | 'campaignListLong' | 'campaignTypedLong'} reason @param {Readonly<Record<string, number>>} values */
  constructor(reason, values) {
    super(reason);
    this.reason = reason;
    this.values = values;
  }
}

/** Returns the number of the line at an index of the text, counted from 1. @param {string} text @param {number} at */
const lineAt = (text, at) => text.slice(0, at).split('\n').length;

const separators = [',', ';', '\t'];

/** Returns the separator that is most frequent in the first line, outside of quotes. @param {string} line */
const separatorOf = (line) => {
  const bare = line.replaceAll(/"[^"]*"/g, '');
  const counts = separators.map((sign) => bare.split(sign).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ',';
};

const lineFeed = 0x0a;

/** Returns the index of the separator or of the line break that ends a cell. @param {string} text @param {number} start @param {string} separator */
const endOfCell = (text, start, separator) => {
  const ends = separator.charCodeAt(0);
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === ends || code === lineFeed) return at;
  }
  return text.length;
};

/** Reads one cell. Returns its text and the index of its end. @param {string} text @param {number} start @param {string} separator */
const cellAt = (text, start, separator) => {
  let open = start;
  while (text[open] === ' ') open += 1;
  if (text[open] !== '"') {
    const end = endOfCell(text, open, separator);
    return { cell: text.slice(start, end), end };
  }
  let cell = '';
  let from = open + 1;
  for (;;) {
    const close = text.indexOf('"', from);
    const isDoubled = close !== -1 && text[close + 1] === '"';
    if (!isDoubled) {
      const end = endOfCell(text, close + 1, separator);
      // Text after the second quote means that the first quote was never closed. All rows between the two quotes would become one cell.
      if (close === -1 || text.slice(close + 1, end).trim() !== '') throw new ListError('campaignListQuote', { line: lineAt(text, start) });
      return { cell: cell + text.slice(from, close), end };
    }
    cell += text.slice(from, close + 1);
    from = close + 2;
  }
};

/**
 * Reads the rows, with the separator of the first line. Empty lines are left out. Lines end in LF, CR LF or CR. Throws a ListError.
 * @param {string} given
 * @returns {string[][]}
 */
export const rowsOf = (given) => {
  const text = given.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const [first = ''] = text.split('\n', 1);
  // In files of some spreadsheets the first line names the separator, such as `sep=;`.
  const named = /^"?sep=(.)"?$/.exec(first)?.[1];
  const separator = named ?? separatorOf(first);
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  const endRow = () => {
    if (row.some((cell) => cell.trim() !== '')) rows.push(row);
    if (rows.length > mostRows) throw new ListError('campaignListLong', { most: mostRows });
    row = [];
  };
  let at = named === undefined ? 0 : first.length + 1;
  while (at < text.length) {
    const { cell, end } = cellAt(text, at, separator);
    if (row.length === mostColumns) throw new ListError('campaignListWide', { line: lineAt(text, at), most: mostColumns });
    row.push(cell);
    if (text[end] !== separator) endRow();
    at = end + 1;
  }
  endRow();
  return rows;
};
