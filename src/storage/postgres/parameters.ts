/**
 * Encodes the values of a statement in the binary form of the server, which is the cheapest on both sides. The driver would write an array
 * as one text with escaped quotes, and bytes as hex. The server would have to parse both.
 */

// PostgreSQL takes neither the character zero nor half a surrogate pair, and strangers and clients may send both.

const forbidden = /\0|[\ud800-\udfff]/;
const cleanText = (text: string): string => (forbidden.test(text) ? text.replaceAll('\0', '').toWellFormed() : text);

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

/** Types of elements by the server's numbers, which never change. */
const elementTypes = { text: 25, bytea: 17 } as const;

type Bytes = Uint8Array | null;

const isText = (value: unknown): value is string | null => typeof value === 'string' || value === null;
const isBytes = (value: unknown): value is Bytes => value instanceof Uint8Array || value === null;
const isPlain = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

/** Dimensions, whether there are nulls, type of the elements, length, first index; then length and bytes of each element, -1 for a null. */
const headerLength = 20;

const headed = (type: number, elements: readonly unknown[], bytes: number): Buffer => {
  const array = Buffer.allocUnsafe(headerLength + 4 * elements.length + bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16);
  return array;
};

const textArray = (given: readonly (string | null)[]): Buffer => {
  const texts = given.map((text) => text && cleanText(text));
  const array = headed(
    elementTypes.text,
    texts,
    texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0),
  );
  let at = headerLength;
  for (const text of texts) {
    const length = text === null ? 0 : array.write(text, at + 4);
    array.writeInt32BE(text === null ? -1 : length, at);
    at += 4 + length;
  }
  return array;
};

const bytesArray = (elements: readonly Bytes[]): Buffer => {
  const array = headed(
    elementTypes.bytea,
    elements,
    elements.reduce((sum, one) => sum + (one?.length ?? 0), 0),
  );
  let at = headerLength;
  for (const one of elements) {
    at = array.writeInt32BE(one === null ? -1 : one.length, at);
    if (one === null) continue;
    array.set(one, at);
    at += one.length;
  }
  return array;
};

/** Texts and lists of texts are made storable. A list of texts must be meant for `text[]`, one of bytes for `bytea[]`. */
export const parameterOf = (value: unknown): unknown => {
  if (!Array.isArray(value) || value.length === 0) return storable(value);
  if (value.every(isPlain)) return `{${value.join(',')}}`;
  const known = value.some((one) => one !== null);
  if (known && value.every(isText)) return textArray(value);
  if (known && value.every(isBytes)) return bytesArray(value);
  return storable(value);
};
