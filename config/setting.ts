/** What a setting is. */
import type { Kind } from './kinds.ts';

export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly value: T;
  /** What it does and why its default is what it is. */
  readonly about: string;
  /** Heading of its table in `docs/settings.md`. */
  readonly group: string;
}

export const group =
  (name: string) =>
  <T>(kind: Kind<T>, value: NoInfer<T>, about: string): Setting<T> => ({ kind, value, about, group: name });
