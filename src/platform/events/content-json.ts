/** A protobuf message as JSON, with the field names of the protocol. */

interface LongNumber {
  toNumber(): number;
}

const isLong = (value: object): value is LongNumber => 'toNumber' in value && typeof value.toNumber === 'function';

/** A count or a time of the protocol: a number, a 64-bit integer, or nothing (0). */
export const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : 0;
  if (typeof value === 'object' && value !== null && isLong(value)) return value.toNumber();
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/** Bytes are base64, 64-bit integers numbers, absent fields and empty lists left out. Messages of the protocol nest at most some 20 deep; below 40 it is cut. */
export const contentJson = (value: unknown, depth = 0): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (isLong(value)) return value.toNumber();
  if (depth > 40) return null;
  if (Array.isArray(value)) return value.map((item) => contentJson(item, depth + 1));
  const json: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    if (field === null || field === undefined || (Array.isArray(field) && field.length === 0)) continue;
    // The library writes one without a value into the keys of direct chats.
    if (name === 'participant' && field === '') continue;
    json[name] = contentJson(field, depth + 1);
  }
  return json;
};
