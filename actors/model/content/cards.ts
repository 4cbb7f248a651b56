/** Small cards: a contact, a place, invitations to a group and to a channel. */

export interface ContactContent {
  readonly kind: 'contact';
  readonly name: string;
  /** Digits with the country code, at least one. */
  readonly phones: readonly string[];
  /** The rest is '' when it is not known. */
  readonly organization: string;
  readonly email: string;
  readonly url: string;
}

/** A point on the map; degrees. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  /** '' for none, as the address. */
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

/** Makes a person an admin of a channel, when it is accepted. */
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
