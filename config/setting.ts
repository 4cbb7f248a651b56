/** The type of a setting. */
import type { Kind } from './kinds.ts';

export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly value: T;
  /** The effect of the setting and the reason of its default. */
  readonly about: string;
  /** Heading of its table in `docs/settings.md`. */
  readonly group: string;
}

export const group =
  (name: string) =>
  <T>(kind: Kind<T>, value: NoInfer<T>, about: string): Setting<T> => ({ kind, value, about, group: name });
