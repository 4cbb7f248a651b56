/** The arithmetic of waiting: windows and delays as pure functions. */

/** Times that still count, with the new one: a sliding window as a value. */
export const addTime = (times: readonly number[], now: number, window: number): readonly number[] => [
  ...times.filter((time) => time > now - window),
  now,
];

/** Delay before attempt `n` (0 is the first); `random` in [0, 1). */
export const backOff = (bounds: { readonly min: number; readonly max: number }, n: number, random: number): number =>
  Math.round((0.5 + random / 2) * Math.min(bounds.max, bounds.min * 2 ** Math.min(n, 30)));

/** A value between `min` and `max`. */
export const between = (min: number, max: number, random: number): number => Math.round(min + (max - min) * random);
