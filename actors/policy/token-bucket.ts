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

/** Takes so many, or none; `wait`: milliseconds until there are as many, 0 when they were taken. There are never more than the burst. */
export const takeToken = (bucket: Bucket, pace: Pace, now: number, count = 1): { readonly bucket: Bucket; readonly wait: number } => {
  const current = filled(bucket, pace, now);
  if (current.tokens >= count) return { bucket: { ...current, tokens: current.tokens - count }, wait: 0 };
  return { bucket: current, wait: Math.ceil((count - current.tokens) * pace.every) };
};
