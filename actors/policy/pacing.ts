/** The pace of work as plain functions and counters: sliding windows, back-off delays, token buckets, and a semaphore. */

// Sliding windows and back-off delays as pure functions.

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

// A token bucket allows a burst of actions at once, and then one more action in each period.

export interface Pace {
  /** The largest number of actions that may happen at once, after a pause. */
  readonly burst: number;
  /** The time until one more action is allowed. In milliseconds. */
  readonly every: number;
}

export interface Bucket {
  readonly tokens: number;
  /** The time at which `tokens` was counted, by the clock of the caller. In milliseconds. */
  readonly at: number;
}

export const fullBucket = ({ burst }: Pace, now: number): Bucket => ({ tokens: burst, at: now });

const filled = ({ tokens, at }: Bucket, { burst, every }: Pace, now: number): Bucket => ({
  tokens: Math.min(burst, tokens + Math.max(0, now - at) / every),
  at: now,
});

/** The share of a token that a sum of fractions may lack, because floating-point numbers round. */
const rounding = 1e-6;

/** Takes `count` tokens, or none. `wait`: milliseconds until there are enough tokens; 0 if they were taken. A `count` above `burst` always fails. */
export const takeToken = (bucket: Bucket, pace: Pace, now: number, count = 1): { readonly bucket: Bucket; readonly wait: number } => {
  const current = filled(bucket, pace, now);
  if (current.tokens >= count - rounding) return { bucket: { ...current, tokens: Math.max(0, current.tokens - count) }, wait: 0 };
  return { bucket: current, wait: Math.ceil((count - current.tokens) * pace.every) };
};

// A semaphore for posts. The semaphore limits the posts in total and per host. Waiting hosts take turns. Within a host, its holders take turns. A holder is
// an instance.

export interface SlotLimits {
  readonly total: number;
  readonly perHost: number;
}

/**
 * The callers of one holder that wait for a slot. `next` is the index of the first waiting caller. The entries before `next` are removed in batches of
 * `longestTrail`, because each removal moves the rest of the array, and hundreds of callers may wait.
 */
interface Line {
  waiting: (() => void)[];
  next: number;
}

const longestTrail = 256;

const takeFirst = (line: Line): (() => void) | undefined => {
  const first = line.waiting[line.next];
  line.next += 1;
  if (line.next >= longestTrail) {
    line.waiting = line.waiting.slice(line.next);
    line.next = 0;
  }
  return first;
};

/** Adds `by` to a count. A count of 0 is removed, so that the map does not grow. */
const count = (counts: Map<string, number>, name: string, by: number): void => {
  const sum = (counts.get(name) ?? 0) + by;
  if (sum > 0) counts.set(name, sum);
  else counts.delete(name);
};

/** The slots and the waiting callers of one host. */
class HostSlots {
  taken = 0;
  /** The largest number of slots of one holder while other holders wait. */
  readonly #share: number;
  /** The largest number of slots of one holder. The other slots are free for a holder that comes later. */
  readonly #most: number;
  readonly #takenBy = new Map<string, number>();
  /** The waiting callers by holder, in the order in which the holders take turns. No line is empty. */
  readonly #lines = new Map<string, Line>();

  constructor(share: number, most: number) {
    this.#share = share;
    this.#most = most;
  }

  /** Returns true if the holder may have a further slot when no other holder waits. Callers without a name are no single holder. */
  allows(holder: string): boolean {
    return holder === '' || (this.#takenBy.get(holder) ?? 0) < this.#most;
  }

  get isWaiting(): boolean {
    return this.#lines.size > 0;
  }

  occupy(holder: string): void {
    this.taken += 1;
    count(this.#takenBy, holder, 1);
  }

  free(holder: string): void {
    this.taken -= 1;
    count(this.#takenBy, holder, -1);
  }

  wait(holder: string, resolve: () => void): void {
    const line = this.#lines.get(holder);
    if (line) line.waiting.push(resolve);
    else this.#lines.set(holder, { waiting: [resolve], next: 0 });
  }

  /**
   * Occupies a slot for the next caller, and resolves its promise. At most two holders can have their share, so the loop skips at most two holders. Returns
   * false if no waiting holder may have a further slot.
   */
  admit(): boolean {
    for (const [holder, line] of this.#lines) {
      if (!this.allows(holder) || (this.#lines.size > 1 && (this.#takenBy.get(holder) ?? 0) >= this.#share)) continue;
      const go = takeFirst(line);
      this.#lines.delete(holder);
      if (line.next < line.waiting.length) this.#lines.set(holder, line);
      this.occupy(holder);
      go?.();
      return true;
    }
    return false;
  }
}

export class Slots {
  readonly #limits: SlotLimits;
  /** Half of the slots that a host can have, rounded up. If two holders wait with their share, the host therefore has no free slot. */
  readonly #share: number;
  /** Seven eighths of the slots that a host can have. Posts that get no answer can then not fill a host before another holder comes. */
  readonly #most: number;
  readonly #hosts = new Map<string, HostSlots>();
  /** The hosts with waiting callers, in the order in which the hosts take turns. */
  readonly #waiting = new Set<string>();
  #busy = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
    const ofHost = Math.min(limits.perHost, limits.total);
    this.#share = Math.ceil(ofHost / 2);
    this.#most = ofHost - Math.floor(ofHost / 8);
  }

  get busy(): number {
    return this.#busy;
  }

  /**
   * Takes a slot. Returns null if a slot was free, else a promise that resolves with the next slot. The caller must free every slot. A named holder alone
   * may use seven eighths of the slots of a host. While other holders wait, a holder with half of the slots gets no further slot.
   */
  take(host: string, holder = ''): Promise<void> | null {
    const slots = this.#slotsOf(host);
    if (this.#hasRoom(slots) && slots.allows(holder)) {
      this.#busy += 1;
      slots.occupy(holder);
      return null;
    }
    this.#waiting.add(host);
    return new Promise((resolve) => slots.wait(holder, resolve));
  }

  free(host: string, holder = ''): void {
    const slots = this.#hosts.get(host);
    this.#busy -= 1;
    slots?.free(holder);
    if (slots?.taken === 0 && !slots.isWaiting) this.#hosts.delete(host);
    this.#next();
  }

  #slotsOf(host: string): HostSlots {
    const known = this.#hosts.get(host);
    if (known) return known;
    const slots = new HostSlots(this.#share, this.#most);
    this.#hosts.set(host, slots);
    return slots;
  }

  #hasRoom({ taken }: HostSlots): boolean {
    return this.#busy < this.#limits.total && taken < this.#limits.perHost;
  }

  #next(): void {
    for (const host of this.#waiting) {
      const slots = this.#hosts.get(host);
      if (!slots || !this.#hasRoom(slots) || !slots.admit()) continue;
      this.#busy += 1;
      this.#waiting.delete(host);
      if (slots.isWaiting) this.#waiting.add(host);
      return;
    }
  }
}

// One token bucket for each name, such as that of a person who signs in.

/** The largest number of names with a bucket. The bucket of the name that was not tried for longest is dropped. A bucket takes about 100 bytes. */
const remembered = 20_000;

export class NamedBuckets {
  readonly #pace: Pace;
  readonly #buckets = new Map<string, Bucket>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /**
   * Takes a token. Returns 0 if there was one, else the milliseconds until the next. A guess takes its token before its check, so that concurrent guesses
   * cannot exceed the limit.
   */
  take(name: string, now: number): number {
    const { bucket, wait } = takeToken(this.#buckets.get(name) ?? fullBucket(this.#pace, now), this.#pace, now);
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > remembered && oldest !== undefined) this.#buckets.delete(oldest);
    return wait;
  }

  /** Returns what `take` would return, and takes no token. */
  waitOf(name: string, now: number): number {
    return takeToken(this.#buckets.get(name) ?? fullBucket(this.#pace, now), this.#pace, now).wait;
  }

  /** Returns a token to the bucket. Call this if the guess was right or could not be checked. */
  giveBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) this.#buckets.set(name, { ...bucket, tokens: Math.min(this.#pace.burst, bucket.tokens + 1) });
  }
}
