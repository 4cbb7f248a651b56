/**
 * The wire version of commands between nodes. Two versions of the program run side by side during an upgrade. A command of the newer version may then
 * reach an older owner that does not know it. The owner refuses such a command before it begins.
 *
 * A command carries the version that its reader needs. Only features in `additions` need more than the first version.
 */

/** Version of this program. The version grows with the additions. */
export const wireVersion = 1;

/** A feature of commands since some version, which an owner of an older version would drop or fail on. */
export interface Addition {
  readonly version: number;
  /** Method of the gateway, or the name of a `NodeQuestion`. */
  readonly method: string;
  /** Path in the arguments, such as `1.content.caption`. Absent if the method itself is new. */
  readonly field?: string;
  /** The new value, such as a kind of content. Absent if the field itself is new. */
  readonly value?: unknown;
}

/**
 * The additions. A new method, operation, kind of content or field that must not be dropped gets a row, one version higher than the last release. A
 * field that an older owner may leave out needs no row.
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
