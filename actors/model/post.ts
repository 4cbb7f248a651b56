/** Posts of channels: messages that every follower reads in the same form, and that the platform numbers. */

/** Whether a chat is a channel. */
export const isChannelId = (chatId: string): boolean => chatId.endsWith('@newsletter');

/** What the gateway keeps of a stored post beyond the message. */
export interface PostMarks {
  /** Number of the post in its channel; 0 until the platform has given one. */
  readonly serverId: number;
  readonly views: number;
  /** Reactions by their emoji, as counts. */
  readonly reactions: Readonly<Record<string, number>>;
  /** The platform's name for the uploaded file of an own post; '' for posts without a file, and for those of others. */
  readonly mediaId: string;
  /** Unix milliseconds of the last edit, as the platform tells it; 0 when there was none, or it is not known. */
  readonly editedAt: number;
}

export const newPost: PostMarks = { serverId: 0, views: 0, reactions: {}, mediaId: '', editedAt: 0 };

/** How often a post was seen, and the reactions to it. What the platform did not say is null. */
export interface PostCounts {
  readonly serverId: number;
  readonly views: number | null;
  readonly reactions: Readonly<Record<string, number>> | null;
}

/** A post as the platform lists it. Lists of counts name posts by their number alone. */
export interface ListedPost extends PostCounts {
  /** '' where the list does not say. */
  readonly messageId: string;
  /** `text`, `media`, `poll`; '' where the list does not say. */
  readonly type: string;
  /** Unix milliseconds; 0 where the list does not say. */
  readonly at: number;
  /** JSON with the field names of the protocol; null where the list has none. */
  readonly content: unknown;
}

/** Names a post: by its number where that is known, else by its platform id. */
export interface PostName {
  readonly channel: string;
  readonly messageId: string;
  readonly serverId: number;
}

/** The post that was changed, and what the platform calls the change. */
export interface ChangedPost {
  readonly target: PostName;
  readonly messageId: string;
  readonly serverId: number;
}
