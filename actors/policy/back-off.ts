/** Sliding windows and back-off delays as pure functions. */

/** Adds a time to a sliding window and drops times that left the window. */
export const addTime = (times: readonly number[], now: number, window: number): readonly number[] => [
  ...times.filter((time) => time > now - window),
  now,
];

/** Returns the back-off delay before attempt `n` (0 is the first). `random` is in [0, 1). */
export const backOff = (bounds: { readonly min: number; readonly max: number }, n: number, random: number): number =>
  Math.round((0.5 + random / 2) * Math.min(bounds.max, bounds.min * 2 ** Math.min(n, 30)));

/** Returns a random value between `min` and `max`. */
export const between = (min: number, max: number, random: number): number => Math.round(min + (max - min) * random);
