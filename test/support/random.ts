/** Random numbers that can be repeated from a seed. */

/** Returns a generator of numbers in [0, 1), deterministic by the seed (mulberry32). */
export const randomOf = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Returns the items in a random order. */
export const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const all = [...items];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other] as T, all[at] as T];
  }
  return all;
};
