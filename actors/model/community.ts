/** Communities: groups of groups. */

/** The community of a group, as the group's chat stores it. The fields have the order in which the database returns them. */
export interface ParentCommunity {
  readonly id: string;
  readonly name: string;
  /** URLs of pictures; '' if unknown. */
  readonly image: string;
  readonly preview: string;
  /** The announcement group of the community; '' if unknown. */
  readonly defaultGroup: string;
}

/** The key of `Chat.extra` under which a chat stores its `ParentCommunity`. */
export const parentCommunity = 'parent_community';
