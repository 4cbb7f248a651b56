/** A token bucket: a burst of actions at once, then one more for each period. */

export interface Pace {
  /** The number of actions that may follow each other at once, after a pause. */
  readonly burst: number;
  /** The time until one more action is allowed. In milliseconds. */
  readonly every: number;
}

export interface Bucket {
  readonly tokens: number;
  /** The time at which `tokens` was counted. In Unix milliseconds. */
  readonly at: number;
}

export const fullBucket = ({ burst }: Pace, now: number): Bucket => ({ tokens: burst, at: now });

const filled = ({ tokens, at }: Bucket, { burst, every }: Pace, now: number): Bucket => ({
  tokens: Math.min(burst, tokens + Math.max(0, now - at) / every),
  at: now,
});

/** Takes `count` tokens, or none. `wait`: milliseconds until there are enough tokens; 0 if they were taken. A bucket never holds more than the burst. */
export const takeToken = (bucket: Bucket, pace: Pace, now: number, count = 1): { readonly bucket: Bucket; readonly wait: number } => {
  const current = filled(bucket, pace, now);
  if (current.tokens >= count) return { bucket: { ...current, tokens: current.tokens - count }, wait: 0 };
  return { bucket: current, wait: Math.ceil((count - current.tokens) * pace.every) };
};
