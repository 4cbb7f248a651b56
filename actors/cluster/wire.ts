/**
 * Encodes commands and their answers as JSON, which every version of the program and of Node reads. A tag marks values that JSON cannot express. Keys
 * of objects may come from clients, so an object that has the tag itself is written as its entries.
 */
const tag = '$as';

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

const tagged = (form: string, value: Plain): Plain => ({ [tag]: form, value });

const entriesOf = (entries: Iterable<readonly [unknown, unknown]>): Plain => [...entries].map(([key, value]) => [plain(key), plain(value)]);

const plain = (value: unknown): Plain => {
  if (value === undefined) return tagged('undefined', null);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : tagged('number', String(value));
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} cannot be sent to another node`);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Uint8Array) return tagged('bytes', Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'));
  if (value instanceof Map) return tagged('map', entriesOf(value));
  if (value instanceof Set) return tagged('set', [...value].map(plain));
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return tag in value ? tagged('object', entriesOf(entries)) : Object.fromEntries(entries.map(([key, one]) => [key, plain(one)]));
};

type Entries = readonly (readonly [unknown, unknown])[];

const forms: Readonly<Record<string, (value: Plain) => unknown>> = {
  undefined: () => undefined,
  number: (value) => Number(value),
  bytes: (value) => new Uint8Array(Buffer.from(String(value), 'base64')),
  map: (value) => new Map(whole(value) as Entries),
  set: (value) => new Set(whole(value) as readonly unknown[]),
  object: (value) => Object.fromEntries(whole(value) as readonly (readonly [string, unknown])[]),
};

const whole = (value: Plain): unknown => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(whole);
  const fields = value as Readonly<Record<string, Plain>>;
  const form = fields[tag];
  if (typeof form === 'string') {
    const read = Object.hasOwn(forms, form) ? forms[form] : undefined;
    if (read === undefined) throw new TypeError(`the form ${form} is not known`);
    return read(fields['value'] ?? null);
  }
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, whole(one)]));
};

export const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(plain(value)));

/** Decodes bytes. Throws on invalid JSON, and on forms of a later version. */
export const decode = (bytes: Uint8Array): unknown => whole(JSON.parse(Buffer.from(bytes).toString()) as Plain);

// The wire version of commands between nodes. Two versions of the program run side by side during an upgrade. A command of the newer
// version may then reach an older owner that does not know it. The owner refuses such a command before it begins.
//
// A command carries the version that its reader needs. Only features in `additions` need more than the first version.

/** The version of this program. The version grows with the additions. */
export const wireVersion = 1;

/** A feature that commands have since `version`. An owner of an older version would drop the feature, or would fail. */
export interface Addition {
  readonly version: number;
  /** Method of the gateway, or the name of a `NodeQuestion`. */
  readonly method: string;
  /** The path in the arguments, such as `1.content.caption`. Absent if the method itself is new. */
  readonly field?: string;
  /** The new value, such as a kind of content. Absent if the field itself is new. */
  readonly value?: unknown;
}

/**
 * The additions. A new method, kind of content or field that must not be dropped gets a row. The version of the row is one higher than the version of the
 * previous release. A field that an older owner may leave out needs no row. A new operation needs no row either, because an older owner answers that it does
 * not know the operation.
 */
export const additions: readonly Addition[] = [];

const at = (args: readonly unknown[], path: string): unknown => {
  let found: unknown = args;
  for (const name of path.split('.')) found = found === null || typeof found !== 'object' ? undefined : Reflect.get(found, name);
  return found;
};

const uses = ({ method, field, value }: Addition, called: string, args: readonly unknown[]): boolean => {
  if (method !== called) return false;
  if (field === undefined) return true;
  const found = at(args, field);
  return value === undefined ? found !== undefined : found === value;
};

/** Returns the oldest version that understands the command. */
export const versionFor = (method: string, args: readonly unknown[], known: readonly Addition[] = additions): number =>
  known.reduce((needed, addition) => (addition.version > needed && uses(addition, method, args) ? addition.version : needed), 1);
