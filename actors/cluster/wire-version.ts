/**
 * What nodes of two versions of the program understand of each other. While a cluster is upgraded both run, and a command of the newer one may reach an
 * owner that does not know it: that one says so before it begins, and nothing is done by half.
 *
 * A command carries the version that its reader needs, which is seldom the newest: only what stands in `additions` asks for more than the first one.
 */

/** Of this program. It grows with the additions. */
export const wireVersion = 1;

/** Something that commands may hold since a version, and that an owner of an older one would drop or fail on. */
export interface Addition {
  readonly version: number;
  /** Of the gateway, or of `NodeQuestion`s the question. */
  readonly method: string;
  /** Where it stands in the arguments, such as `1.content.caption`; absent: the method itself is new. */
  readonly field?: string;
  /** Only this value is new, such as a kind of content; absent: any value but undefined. */
  readonly value?: unknown;
}

/**
 * A new method, operation, kind of content or field that must not be dropped has a row here, one version higher than the last release.
 * A field that an older owner may leave out needs none.
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

/** The oldest version that understands the command. */
export const versionFor = (method: string, args: readonly unknown[], known: readonly Addition[] = additions): number =>
  known.reduce((needed, addition) => (addition.version > needed && uses(addition, method, args) ? addition.version : needed), 1);
