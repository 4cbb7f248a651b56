/**
 * What the owner of an instance sends of its events. Each names the event before it, so that their reader finds out what is missing, whichever
 * owner sent them: ids of events are unique, and are compared for nothing but being the same.
 */
import type { StreamPast } from '../face.ts';
import type { GatewayEvent } from '../model.ts';

export interface Sent {
  /** Id of the event before this one; without `event`, of the last one so far. null: what was before is not known, or was not sent. */
  readonly after: string | null;
  readonly event?: GatewayEvent;
}

/** The newest ones that belong together. */
export const linked = (all: Iterable<Sent>): StreamPast => {
  let anchor: string | null = null;
  let events: GatewayEvent[] = [];
  let known = new Set<string>();
  for (const { after, event } of all) {
    // A new owner that did not see the very last events of the one before names an earlier one: they are here all the same.
    if (after === null || !known.has(after)) {
      anchor = after;
      events = [];
      known = new Set(after === null ? [] : [after]);
    }
    if (event === undefined) continue;
    events.push(event);
    known.add(event.id);
  }
  return { anchor, events };
};

/** Id of the last event; null when it is not known. */
export const lastOf = ({ anchor, events }: StreamPast): string | null => events.at(-1)?.id ?? anchor;
