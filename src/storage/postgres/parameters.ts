/**
 * Encodes lists of texts and of bytes in the binary format of PostgreSQL, which costs both sides the least. The driver would write an array as one text
 * with escaped quotes, and bytes as hex, and PostgreSQL would have to parse both.
 */

// PostgreSQL accepts neither the character U+0000 nor a lone surrogate. Messages and requests may contain both.

const forbidden = /\0|[\ud800-\udfff]/;
const cleanText = (text: string): string => (forbidden.test(text) ? text.replaceAll('\0', '').toWellFormed() : text);

/** Returns the value with storable texts, also inside lists and plain objects. Other values are returned unchanged. */
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

/** Returns JSON that PostgreSQL accepts. A value without a JSON form, such as a circular one, becomes null, so its row is stored all the same. */
export const jsonText = (value: unknown): string => {
  const text = jsonOf(value);
  return suspicious.test(text) ? JSON.stringify(storable(JSON.parse(text))) : text;
};

/** The largest length of a key, in characters. An index entry has room for two such keys. Ids of the platform are far shorter. */
const longestKey = 300;
export const keyText = (text: string): string => cleanText(text.length > longestKey ? text.slice(0, longestKey) : text);

/** The OIDs of element types. They never change. */
const elementTypes = { text: 25, bytea: 17 } as const;

type Bytes = Uint8Array | null;

const isText = (value: unknown): value is string | null => typeof value === 'string' || value === null;
const isBytes = (value: unknown): value is Bytes => value instanceof Uint8Array || value === null;
const isPlain = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

/**
 * The size of an array's header, in bytes: dimensions, a flag for nulls, the element type, the length and the first index. Each element follows as length
 * and bytes.
 */
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

/** Converts a value for the driver. Texts become storable. A list of texts must be for a `text[]` parameter, and a list of bytes for `bytea[]`. */
export const parameterOf = (value: unknown): unknown => {
  if (!Array.isArray(value) || value.length === 0) return storable(value);
  if (value.every(isPlain)) return `{${value.join(',')}}`;
  const known = value.some((one) => one !== null);
  if (known && value.every(isText)) return textArray(value);
  if (known && value.every(isBytes)) return bytesArray(value);
  return storable(value);
};
