/** How often something may be done: so many times at once, then one more for each period. */

export interface Pace {
  /** Times that may follow each other at once, after a pause. */
  readonly burst: number;
  /** Milliseconds until one more is allowed. */
  readonly every: number;
}

export interface Bucket {
  readonly tokens: number;
  /** Unix milliseconds of `tokens`. */
  readonly at: number;
}

export const fullBucket = ({ burst }: Pace, now: number): Bucket => ({ tokens: burst, at: now });

const filled = ({ tokens, at }: Bucket, { burst, every }: Pace, now: number): Bucket => ({
  tokens: Math.min(burst, tokens + Math.max(0, now - at) / every),
  at: now,
});

/** Takes one; `wait`: milliseconds until there is one, 0 when it was taken. */
export const takeToken = (bucket: Bucket, pace: Pace, now: number): { readonly bucket: Bucket; readonly wait: number } => {
  const current = filled(bucket, pace, now);
  if (current.tokens >= 1) return { bucket: { ...current, tokens: current.tokens - 1 }, wait: 0 };
  return { bucket: current, wait: Math.ceil((1 - current.tokens) * pace.every) };
};
