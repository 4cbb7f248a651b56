/** The JSON in which whatsmeow stores Signal records (libsignal-protocol-go, `state/record`): names of Go fields, bytes in base64 or null. */

/** A record that cannot be carried over; `message` is a clause without any of its content. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

export type GoObject = Readonly<Record<string, unknown>>;

/** Forks of whatsmeow store other forms, of which nothing is known. */
export const foreignForm = 'the record is not in the JSON form of whatsmeow';
const broken = 'the record is broken';

const firstByte = '{'.charCodeAt(0);

export const parseRecord = (record: Uint8Array): GoObject => {
  if (record[0] !== firstByte) throw new UnreadableRecord(foreignForm);
  try {
    return JSON.parse(Buffer.from(record).toString()) as GoObject;
  } catch {
    // The parser's sentence would quote the record.
    throw new UnreadableRecord(broken);
  }
};

/** Returns the value when it is an object. Throws `UnreadableRecord`, like all functions of this file. */
export const objectOf = (value: unknown): GoObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnreadableRecord(broken);
  return value as GoObject;
};

/** Returns a list of objects. Go writes null for an empty slice. */
export const listOf = (value: unknown): readonly GoObject[] => {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new UnreadableRecord(broken);
  return value.map(objectOf);
};

/** Decodes bytes of exactly this length. */
export const bytesOf = (value: unknown, length: number): Buffer => {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : null;
  if (bytes?.length !== length) throw new UnreadableRecord(broken);
  return bytes;
};

/** Returns a `uint32` of Go. */
export const numberOf = (value: unknown): number => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 0xffff_ffff) throw new UnreadableRecord(broken);
  return value;
};

export const privateLength = 32;
/** A public key with the type of the curve before it. */
export const publicLength = 33;
export const secretLength = 32;
