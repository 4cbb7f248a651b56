/** The newest events of an instance, bounded by number and bytes, for clients that come back. */
import type { GatewayEvent } from '#actors/gateway.ts';

export interface Framed {
  readonly event: GatewayEvent;
  readonly frame: Buffer;
}

export interface Ring {
  push(framed: Framed): void;
  /** Everything after the event with this id; null when it is not here any more. */
  after(id: string): readonly Framed[] | null;
}

export const createRing = (most: { readonly ringEvents: number; readonly ringBytes: number }): Ring => {
  const held: Framed[] = [];
  let bytes = 0;
  return {
    push(framed) {
      held.push(framed);
      bytes += framed.frame.length;
      while (held.length > most.ringEvents || (bytes > most.ringBytes && held.length > 1)) bytes -= held.shift()?.frame.length ?? 0;
    },
    after(id) {
      const index = held.findLastIndex(({ event }) => event.id === id);
      return index === -1 ? null : held.slice(index + 1);
    },
  };
};
