/** A semaphore for posts. The semaphore limits the posts in total and per host. Waiting hosts take turns. */

export interface SlotLimits {
  readonly total: number;
  readonly perHost: number;
}

export interface Slots {
  /** Takes a slot. Returns null if a slot was free, else a promise of one. The caller must free every slot. */
  take(host: string): Promise<void> | null;
  free(host: string): void;
  readonly busy: number;
}

/** Callers that wait for a slot of one host. Taking the first does not move the others, because there may be hundreds. */
interface HostQueue {
  waiting: (() => void)[];
  next: number;
}

const longestTrail = 256;

const takeFirst = (line: HostQueue): (() => void) | undefined => {
  const first = line.waiting[line.next];
  line.next += 1;
  if (line.next >= longestTrail) {
    line.waiting = line.waiting.slice(line.next);
    line.next = 0;
  }
  return first;
};

export function createSlots({ total, perHost }: SlotLimits): Slots {
  const taken = new Map<string, number>();
  /** Queues in the order of the turns of their hosts. No queue is empty. */
  const lines = new Map<string, HostQueue>();
  let busy = 0;

  const hasRoom = (host: string): boolean => busy < total && (taken.get(host) ?? 0) < perHost;
  const occupy = (host: string): void => {
    busy += 1;
    taken.set(host, (taken.get(host) ?? 0) + 1);
  };
  const next = (): void => {
    for (const [host, line] of lines) {
      if (!hasRoom(host)) continue;
      const go = takeFirst(line);
      lines.delete(host);
      if (line.next < line.waiting.length) lines.set(host, line);
      occupy(host);
      return go?.();
    }
  };

  return {
    take(host) {
      if (hasRoom(host)) {
        occupy(host);
        return null;
      }
      return new Promise((resolve) => {
        const line = lines.get(host);
        if (line) line.waiting.push(resolve);
        else lines.set(host, { waiting: [resolve], next: 0 });
      });
    },
    free(host) {
      busy -= 1;
      const left = (taken.get(host) ?? 1) - 1;
      if (left > 0) taken.set(host, left);
      else taken.delete(host);
      next();
    },
    get busy() {
      return busy;
    },
  };
}
