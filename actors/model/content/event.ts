/** Events: invitations that people accept or refuse. */
import type { Place } from './cards.ts';

/** What an event says. */
export interface EventFacts {
  readonly name: string;
  /** '' for none, as the link. */
  readonly description: string;
  /** Unix seconds. */
  readonly startsAt: number;
  /** Unix seconds; null when it has no end. */
  readonly endsAt: number | null;
  /** A place may be named without its coordinates. */
  readonly location: (Omit<Place, 'latitude' | 'longitude'> & Partial<Pick<Place, 'latitude' | 'longitude'>>) | null;
  readonly joinLink: string;
  /** It takes place as a call. Without a link of its own it gets one from the platform. */
  readonly isCall: boolean;
  readonly isCancelled: boolean;
  readonly extraGuestsAllowed: boolean;
  /** Seconds before the start at which people are reminded; null for no reminder. */
  readonly remindBefore: number | null;
}

export interface EventContent extends EventFacts {
  readonly kind: 'event';
}

/** Replaces what an own event says, which is also how it is called off. */
export interface EventEditContent extends EventFacts {
  readonly kind: 'eventEdit';
  /** Any form of the id of the message with the event. */
  readonly target: string;
}
