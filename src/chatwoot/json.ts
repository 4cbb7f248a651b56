/** Reads JSON of which nothing is known: whatever is not there or of another type is empty. */

export const field = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Readonly<Record<string, unknown>>)[name] : null,
    value,
  );

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** 0 when it is no id. */
export const idOf = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
