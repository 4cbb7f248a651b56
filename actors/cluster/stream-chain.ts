/**
 * The messages that the owner of an instance sends for its events. Each message names the event before it, so that a reader detects gaps even across
 * owners. Event ids are unique and are compared for equality only.
 */
import type { StreamPast } from '../views.ts';
import type { GatewayEvent } from '../model.ts';

export interface Sent {
  /** Id of the previous event. Without `event`, the id of the last event so far. Null if the previous event is unknown or was not sent. */
  readonly after: string | null;
  readonly event?: GatewayEvent;
}

/** Returns the newest messages that form a chain without gaps. */
export const linked = (all: Iterable<Sent>): StreamPast => {
  let anchor: string | null = null;
  let events: GatewayEvent[] = [];
  let known = new Set<string>();
  for (const { after, event } of all) {
    // A new owner may name an event before the very last events of the former owner. Those events are in the list and are not lost.
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

/** Returns the id of the last event, or null if it is unknown. */
export const lastOf = ({ anchor, events }: StreamPast): string | null => events.at(-1)?.id ?? anchor;
