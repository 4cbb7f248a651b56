/** PostgreSQL takes neither the character zero nor half a surrogate pair, and strangers and clients may send both. */

const forbidden = /\0|[\ud800-\udfff]/;
export const cleanText = (text: string): string => (forbidden.test(text) ? text.replaceAll('\0', '').toWellFormed() : text);

/** The value with every text in it made storable; the value itself when it is neither text, list nor plain object. */
export const storable = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [cleanText(name), storable(one)]));
};

const suspicious = /\\u(?:0000|d[89a-f])/i;

const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return 'null';
  }
};

/** JSON that PostgreSQL takes, whatever the value holds. A value that has no JSON, such as one that holds itself, becomes null: its row is stored. */
export const jsonText = (value: unknown): string => {
  const text = jsonOf(value);
  return suspicious.test(text) ? JSON.stringify(storable(JSON.parse(text))) : text;
};

/** Longest text that an index over two of them can hold, four bytes a character. Ids of the platform are far shorter. */
const longestKey = 300;
export const keyText = (text: string): string => cleanText(text.length > longestKey ? text.slice(0, longestKey) : text);
