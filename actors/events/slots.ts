/** Places for posts that are under way: so many in all, so many to one host. Hosts that wait take turns. */

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

export function createSlots({ total, perHost }: SlotLimits): Slots {
  const taken = new Map<string, number>();
  /** In the order in which the hosts get their turns; none is empty. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = 0;

  const hasRoom = (host: string): boolean => busy < total && (taken.get(host) ?? 0) < perHost;
  const occupy = (host: string): void => {
    busy += 1;
    taken.set(host, (taken.get(host) ?? 0) + 1);
  };
  const next = (): void => {
    for (const [host, line] of waiting) {
      if (!hasRoom(host)) continue;
      waiting.delete(host);
      const [go, ...others] = line;
      if (others.length > 0) waiting.set(host, others);
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
        const line = waiting.get(host);
        if (line) line.push(resolve);
        else waiting.set(host, [resolve]);
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
