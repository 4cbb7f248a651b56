/** Events: invitations that people accept or decline. */
import type { Place } from './cards.ts';

/** The facts of an event. */
export interface EventFacts {
  readonly name: string;
  /** '' for none. The same holds for the link. */
  readonly description: string;
  /** Unix seconds. */
  readonly startsAt: number;
  /** Unix seconds; null if the event has no end. */
  readonly endsAt: number | null;
  /** The place. A place may have a name without coordinates. */
  readonly location: (Omit<Place, 'latitude' | 'longitude'> & Partial<Pick<Place, 'latitude' | 'longitude'>>) | null;
  readonly joinLink: string;
  /** True if the event is a call. The platform creates a link if the client gives none. */
  readonly isCall: boolean;
  readonly isCancelled: boolean;
  readonly extraGuestsAllowed: boolean;
  /** The time of the reminder, in seconds before the start; null for no reminder. */
  readonly remindBefore: number | null;
}

export interface EventContent extends EventFacts {
  readonly kind: 'event';
}

/** A replacement for the facts of an own event. Cancelling an event uses it too. */
export interface EventEditContent extends EventFacts {
  readonly kind: 'eventEdit';
  /** The id, in any form, of the message with the event. */
  readonly target: string;
}
