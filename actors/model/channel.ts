/** Channels as the account knows them, and their posts. Each channel that the account follows is stored as one definition. */

/** A text of a channel with its platform id. `at`: Unix milliseconds; null if the time is unknown. */
export interface ChannelText {
  readonly text: string;
  readonly id: string;
  readonly at: number | null;
}

/** A picture of a channel. `path`: the path of the file on the platform's media host; '' for none. */
export interface ChannelPicture {
  readonly id: string;
  readonly path: string;
}

export const channelRoles = ['owner', 'admin', 'subscriber', 'guest'] as const;

export type ChannelRole = (typeof channelRoles)[number];

/** The sets of emojis with which followers may react. */
export const reactionCodes = ['all', 'basic', 'none'] as const;

export type ReactionCodes = (typeof reactionCodes)[number];

/** All facts of a channel except its id. Constants of the platform are in lower case, including constants that this build does not know. */
export interface ChannelFacts {
  /** `active`, `suspended`, `geosuspended`, `deleted`. */
  readonly state: string;
  /** The time of the creation; null if the time is unknown. In Unix milliseconds. */
  readonly createdAt: number | null;
  readonly name: ChannelText;
  readonly description: ChannelText;
  /** The code of the invitation link. */
  readonly invite: string;
  /** The public name of the channel; null for none. */
  readonly handle: string | null;
  /** The number of followers; null if the platform leaves it out. */
  readonly subscribers: number | null;
  /** `verified`, `unverified`. */
  readonly verification: string;
  readonly picture: ChannelPicture | null;
  readonly preview: ChannelPicture | null;
  /** One of `reactionCodes`; '' if the platform leaves it out. */
  readonly reactions: string;
  /** The role of the account in the channel; null if the platform leaves it out. */
  readonly role: ChannelRole | null;
  /** True if notifications of new posts are off; null for a channel that the account does not follow. */
  readonly muted: boolean | null;
}

/** A channel with its id, such as `120363153742561022@newsletter`. */
export interface Channel extends ChannelFacts {
  readonly id: string;
}

/** The changed facts of a channel. Absent facts are unchanged or unknown. */
export type ChannelPatch = { readonly id: string } & Partial<ChannelFacts>;

/** The last time at which the platform listed all channels of the account. An instance has one such record. In Unix milliseconds. */
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

/** Builds a channel from known facts and default values. */
export const channelOf = (patch: ChannelPatch): Channel => ({ ...plain, ...patch });

/** The views of the platform's public channel directory. */
export const channelViews = ['RECOMMENDED', 'TRENDING', 'POPULAR', 'NEW', 'FEATURED'] as const;

export type ChannelView = (typeof channelViews)[number];

// Posts of channels. Every follower reads the same message, and the platform gives each post a number.

export const isChannelId = (chatId: string): boolean => chatId.endsWith('@newsletter');

/** Facts of a stored post that an ordinary message does not have. */
export interface PostMarks {
  /** The number of the post in its channel; 0 before the platform has assigned a number. */
  readonly serverId: number;
  readonly views: number;
  /** The number of reactions for each emoji. */
  readonly reactions: Readonly<Record<string, number>>;
  /** The platform's name of the uploaded file of an own post; '' for posts without a file and for posts of others. */
  readonly mediaId: string;
  /** The time of the last edit, from the platform; 0 for none or unknown. In Unix milliseconds. */
  readonly editedAt: number;
}

export const newPost: PostMarks = { serverId: 0, views: 0, reactions: {}, mediaId: '', editedAt: 0 };

/** The views of a post and the reactions to it. Null for counts that the platform left out. */
export interface PostCounts {
  readonly serverId: number;
  readonly views: number | null;
  readonly reactions: Readonly<Record<string, number>> | null;
}

/** A post as the platform lists it. In a list of counts, a post has only its number and its counts. */
export interface ListedPost extends PostCounts {
  /** The platform's id of the post; '' if the list has none. */
  readonly messageId: string;
  /** `text`, `media` or `poll`; '' if the list has none. */
  readonly type: string;
  /** The time of the post; 0 if the list has none. In Unix milliseconds. */
  readonly at: number;
  /** JSON with the protocol's field names; null if the list has none. */
  readonly content: unknown;
}

/** The identity of a post: its number if it is known, else its platform id. */
export interface PostName {
  readonly channel: string;
  readonly messageId: string;
  readonly serverId: number;
}

/** The changed post (`target`), and the message id and the number that the platform names for the change. */
export interface ChangedPost {
  readonly target: PostName;
  readonly messageId: string;
  readonly serverId: number;
}
