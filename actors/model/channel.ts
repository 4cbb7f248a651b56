/** Channels as the account knows them: those that it follows are stored, as one definition each. */

/** A text of a channel with the platform's id of it. `at`: Unix milliseconds; null when it is unknown. */
export interface ChannelText {
  readonly text: string;
  readonly id: string;
  readonly at: number | null;
}

/** `path`: where the file is on the platform's host of pictures; '' for none. */
export interface ChannelPicture {
  readonly id: string;
  readonly path: string;
}

export const channelRoles = ['owner', 'admin', 'subscriber', 'guest'] as const;

export type ChannelRole = (typeof channelRoles)[number];

/** Which emojis followers may react with. */
export const reactionCodes = ['all', 'basic', 'none'] as const;

export type ReactionCodes = (typeof reactionCodes)[number];

/** Everything of a channel beside its id. Words of the platform are in lower case; a new one passes as it is. */
export interface ChannelFacts {
  /** `active`, `suspended`, `geosuspended`, `deleted`. */
  readonly state: string;
  /** Unix milliseconds; null when it is unknown. */
  readonly createdAt: number | null;
  readonly name: ChannelText;
  readonly description: ChannelText;
  /** The code of its link. */
  readonly invite: string;
  /** Its public name; null for none. */
  readonly handle: string | null;
  /** Null when the platform does not say. */
  readonly subscribers: number | null;
  /** `verified`, `unverified`. */
  readonly verification: string;
  readonly picture: ChannelPicture | null;
  readonly preview: ChannelPicture | null;
  /** '' when the platform does not say. */
  readonly reactions: string;
  /** What the account is to it; null when the platform does not say. */
  readonly role: ChannelRole | null;
  /** No notices of new posts; null for a channel that the account does not follow. */
  readonly muted: boolean | null;
}

/** A whole channel. `id`: such as `120363153742561022@newsletter`. */
export interface Channel extends ChannelFacts {
  readonly id: string;
}

/** What of a channel is known to have changed. */
export type ChannelPatch = { readonly id: string } & Partial<ChannelFacts>;

/** When the platform listed all channels of the account last. There is one for an instance. Unix milliseconds. */
export interface ChannelListing {
  readonly id: 'all';
  readonly at: number;
}

const plain: ChannelFacts = {
  state: 'active',
  createdAt: null,
  name: { text: '', id: '', at: null },
  description: { text: '', id: '', at: null },
  invite: '',
  handle: null,
  subscribers: null,
  verification: '',
  picture: null,
  preview: null,
  reactions: '',
  role: null,
  muted: null,
};

/** A channel out of what is told of it at once. */
export const channelOf = (patch: ChannelPatch): Channel => ({ ...plain, ...patch });

/** How the platform lists its public directory. */
export const channelViews = ['RECOMMENDED', 'TRENDING', 'POPULAR', 'NEW', 'FEATURED'] as const;

export type ChannelView = (typeof channelViews)[number];
