/** Contents without a file: texts and their link previews, polls, contacts, locations, invitations, and events. */

// Text messages and their link previews.

/** The look of the text of a status post. */
export interface TextStyle {
  /** The background colour: red, green and blue as one number, such as `0xF0B330`. */
  readonly background: number;
  /** The platform's number of the font. */
  readonly font: number;
}

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  /** The style of a status post. Other texts have none. */
  readonly style?: TextStyle;
  /** The link preview. Null for none; 'auto' fetches the preview from the first link in the text. */
  readonly preview:
    | null
    | 'auto'
    | {
        readonly title: string;
        readonly description: string;
        /** URL, data URL or base64. */ readonly image: string;
        readonly large: boolean;
      };
}

/** Polls. */
export interface PollContent {
  readonly kind: 'poll';
  readonly question: string;
  readonly options: readonly string[];
  /** The largest number of options that one person may choose; 0 for all. */
  readonly selectable: number;
}

// Small cards: a contact, a location, and invitations to a group or a channel.

export interface ContactContent {
  readonly kind: 'contact';
  readonly name: string;
  /** Digits with the country code. At least one number. */
  readonly phones: readonly string[];
  /** '' if unknown. The same holds for the next fields. */
  readonly organization: string;
  readonly email: string;
  readonly url: string;
}

/** A point on the map. In degrees. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  /** The name of the place; '' for none. The same holds for the address. */
  readonly name: string;
  readonly address: string;
}

export interface LocationContent extends Place {
  readonly kind: 'location';
}

export interface GroupInviteContent {
  readonly kind: 'groupInvite';
  /** `…@g.us` */
  readonly group: string;
  readonly code: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** '' for none. */
  readonly text: string;
}

/** An invitation that makes a person an admin of a channel when the person accepts. */
export interface ChannelInviteContent {
  readonly kind: 'channelInvite';
  /** `…@newsletter` */
  readonly channel: string;
  readonly name: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** '' for none. */
  readonly text: string;
}

// Events: invitations that people accept or decline.

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
