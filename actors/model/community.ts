/** Communities: groups of groups. */

/** The community of a group, as its chat keeps it. The order of the fields is that in which the database gives them back. */
export interface ParentCommunity {
  readonly id: string;
  readonly name: string;
  /** Addresses of pictures; '' when they are unknown. */
  readonly image: string;
  readonly preview: string;
  /** The group of its announcements; '' when it is unknown. */
  readonly defaultGroup: string;
}

/** The key of `Chat.extra` under which a chat has its `ParentCommunity`. */
export const parentCommunity = 'parent_community';
