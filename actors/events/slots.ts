/** A semaphore for posts: it limits those under way in all and to one host. Hosts that wait take turns. */

export interface SlotLimits {
  readonly total: number;
  readonly perHost: number;
}

export interface Slots {
  /** Null when there is a place, which is taken then; else a promise of one. Every place must be freed. */
  take(host: string): Promise<void> | null;
  free(host: string): void;
  readonly busy: number;
}

/** Those that wait for a place at one host. The first is taken without moving the others, which may be hundreds. */
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
  /** In the order in which the hosts get their turns; none is empty. */
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
