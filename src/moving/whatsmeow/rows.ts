/** Values of rows as `pg` and `node:sqlite` give them: checked before they are used, and never shown. */

/** A row that cannot be used; `message` is a clause without any value. */
export class BrokenRow extends Error {
  override readonly name = 'BrokenRow';
}

export type Row = Readonly<Record<string, unknown>>;

/** Returns the bytes of a column. Throws `BrokenRow` when the column holds no bytes, or another number of them than `length`. */
export const bytesIn = (row: Row, column: string, length?: number): Buffer => {
  const value = row[column];
  if (!Buffer.isBuffer(value)) throw new BrokenRow(`the column ${column} holds no bytes`);
  if (length !== undefined && value.length !== length)
    throw new BrokenRow(`the column ${column} holds ${value.length} bytes in place of ${length}`);
  return value;
};

/** Returns a whole number from zero up. BIGINT arrives as text. Throws `BrokenRow` for everything else. */
export const wholeIn = (row: Row, column: string): number => {
  const value = row[column];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new BrokenRow(`the column ${column} holds no whole number`);
};

/** Returns the text of a column, or '' for null and for a column that the table does not have. */
export const textIn = (row: Row, column: string): string => {
  const value = row[column];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
};
