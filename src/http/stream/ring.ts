/** The newest events of an instance, bounded by number and bytes, for clients that come back. */
import type { GatewayEvent } from '#actors/gateway.ts';

export interface Framed {
  readonly event: GatewayEvent;
  readonly frame: Buffer;
}

/** Events without a gap between them. */
export interface FramedPast {
  /** Id of the event before the first one; null when it is not known. */
  readonly anchor: string | null;
  readonly framed: readonly Framed[];
}

export interface Ring {
  push(framed: Framed): void;
  /** Puts what was before in front; what is here already is left out. There must be no gap between the two. */
  precede(past: FramedPast): void;
  /** Returns all events after the event with this id; null if the ring no longer has it. */
  after(id: string): readonly Framed[] | null;
  /** Returns the events that were pushed after the count `pushed`, as far as the ring still has them. */
  since(pushed: number): readonly Framed[];
  readonly pushed: number;
  clear(): void;
}

export const createRing = (most: { readonly ringEvents: number; readonly ringBytes: number }): Ring => {
  let held: Framed[] = [];
  let bytes = 0;
  let pushed = 0;
  /** Id of the event before the first one here. */
  let before: string | null = null;

  const trim = (): void => {
    while (held.length > most.ringEvents || (bytes > most.ringBytes && held.length > 1)) {
      const out = held.shift();
      bytes -= out?.frame.length ?? 0;
      before = out?.event.id ?? null;
    }
  };
  const isHere = (id: string | null | undefined): boolean => held.some(({ event }) => event.id === id);

  return {
    push(framed) {
      held.push(framed);
      bytes += framed.frame.length;
      pushed += 1;
      trim();
    },
    precede({ anchor, framed }) {
      // The ring reaches further back.
      if (isHere(anchor) || isHere(framed[0]?.event.id)) {
        if (framed[0]?.event.id === held[0]?.event.id) before = anchor;
        return;
      }
      const first = held[0]?.event.id;
      const at = framed.findIndex(({ event }) => event.id === first);
      const earlier = at === -1 ? framed : framed.slice(0, at);
      held = [...earlier, ...held];
      bytes += earlier.reduce((sum, { frame }) => sum + frame.length, 0);
      before = anchor;
      trim();
    },
    after(id) {
      if (id === before) return [...held];
      const index = held.findLastIndex(({ event }) => event.id === id);
      return index === -1 ? null : held.slice(index + 1);
    },
    since: (count) => held.slice(Math.max(0, held.length - (pushed - count))),
    get pushed() {
      return pushed;
    },
    clear() {
      held = [];
      bytes = 0;
      before = null;
    },
  };
};
