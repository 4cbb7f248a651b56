/** Posts of channels: messages that every follower reads in the same form, and that the platform numbers. */

/** Returns true if the chat is a channel. */
export const isChannelId = (chatId: string): boolean => chatId.endsWith('@newsletter');

/** Facts of a stored post that an ordinary message does not have. */
export interface PostMarks {
  /** Number of the post in its channel; 0 before the platform has assigned one. */
  readonly serverId: number;
  readonly views: number;
  /** The number of reactions for each emoji. */
  readonly reactions: Readonly<Record<string, number>>;
  /** The platform's name of the uploaded file of an own post; '' for posts without a file and for posts of others. */
  readonly mediaId: string;
  /** The time of the last edit, from the platform. Unix milliseconds; 0 for none or unknown. */
  readonly editedAt: number;
}

export const newPost: PostMarks = { serverId: 0, views: 0, reactions: {}, mediaId: '', editedAt: 0 };

/** The views of a post and the reactions to it. Null for counts that the platform left out. */
export interface PostCounts {
  readonly serverId: number;
  readonly views: number | null;
  readonly reactions: Readonly<Record<string, number>> | null;
}

/** A post as the platform lists it. Lists of counts identify posts by number alone. */
export interface ListedPost extends PostCounts {
  /** '' if the list has none. */
  readonly messageId: string;
  /** `text`, `media` or `poll`; '' if the list has none. */
  readonly type: string;
  /** Unix milliseconds; 0 if the list has none. */
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

/** The changed post, with the platform's message id and server id of the change. */
export interface ChangedPost {
  readonly target: PostName;
  readonly messageId: string;
  readonly serverId: number;
}
