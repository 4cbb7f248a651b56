/** Small cards: a contact, a location, and invitations to a group or a channel. */

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
