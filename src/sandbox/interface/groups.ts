/** Groups with the actions of their members, and channels with their posts and the actions of owners, admins and followers. */
import type { Digits } from './common.ts';
import type { Content } from './messages.ts';

// Groups and the changes that members make.

/**
 * A rule of a group. `approval`: admins approve new members. `adminAdd`: only admins add people. `ephemeral`: messages disappear after this number of
 * seconds (0: never).
 */
export type GroupRule =
  | { readonly action: 'announce' | 'locked' | 'approval' | 'adminAdd'; readonly on: boolean }
  | { readonly action: 'ephemeral'; readonly seconds: number }
  /** Replaces the invitation link. */
  | { readonly action: 'invite' };

/** Actions of members in a group. `approve` and `reject` apply to requests to join. */
export type GroupChange =
  | { readonly action: 'add' | 'remove' | 'promote' | 'demote' | 'approve' | 'reject'; readonly participants: readonly Digits[] }
  | { readonly action: 'subject' | 'description'; readonly text: string }
  | GroupRule;

export interface GroupView {
  /** `…@g.us` */
  readonly jid: string;
  readonly subject: string;
  readonly description: string;
  readonly creator: Digits;
  readonly announce: boolean;
  readonly locked: boolean;
  /** True if admins must approve new members. */
  readonly approval: boolean;
  /** True if only admins may add people. */
  readonly adminAdd: boolean;
  /** The time after which messages disappear, in seconds; 0: never. */
  readonly ephemeral: number;
  /** The code of the invitation link. */
  readonly invite: string;
  /** The id of the picture. */
  readonly picture?: string;
  /** True if the group is a community, which is a group of groups. */
  readonly isCommunity?: boolean;
  /** The community to which the group belongs. */
  readonly parent?: string;
  /** The role of a group that the platform made for the community: the announcement group or the general group. */
  readonly role?: 'announcement' | 'general';
  /** People who asked to join. `at`: Unix time in milliseconds. */
  readonly requests: readonly { readonly number: Digits; readonly at: number; readonly method: string }[];
  /** People who could not be added, with the codes of their invitations. `expiration` is in Unix seconds. */
  readonly invited: readonly { readonly number: Digits; readonly code: string; readonly expiration: number }[];
  readonly participants: readonly { readonly number: Digits; readonly admin: 'admin' | 'superadmin' | null }[];
}

/** Groups, and actions of their members. */
export interface GroupsMethods {
  createGroup(input: {
    readonly subject: string;
    readonly creator: Digits;
    readonly participants: readonly Digits[];
    /** The form in which members are named on the wire. Absent: by LID. */
    readonly addressing?: 'pn' | 'lid';
  }): Promise<GroupView>;
  updateGroup(jid: string, by: Digits, change: GroupChange): Promise<GroupView>;
  /** Joins a group by its link. `joined` is false if an admin has to approve first. */
  joinGroup(number: Digits, code: string): Promise<{ readonly jid: string; readonly joined: boolean }>;
  /** Makes a community with its announcement group. Returns the community. */
  createCommunity(input: { readonly subject: string; readonly creator: Digits; readonly addressing?: 'pn' | 'lid' }): Promise<GroupView>;
  /** Adds groups to the community or removes them, for an admin. For a group that the platform refuses, `error` is the code of the refusal. */
  editCommunity(
    jid: string,
    by: Digits,
    change: { readonly action: 'link' | 'unlink'; readonly groups: readonly string[] },
  ): Promise<readonly { readonly jid: string; readonly error?: string }[]>;
  groups(): readonly GroupView[];
}

// Channels, as their owners, admins and followers use them.

export type ChannelRole = 'OWNER' | 'ADMIN' | 'SUBSCRIBER';

/** The emojis that followers may use for reactions. */
export type ReactionCodes = 'ALL' | 'BASIC' | 'NONE';

/** A follower of a channel. The owner and the admins follow it too. */
interface FollowerView {
  readonly number: Digits;
  readonly role: ChannelRole;
  /** True if the follower gets no notices of new posts. */
  readonly muted: boolean;
  /** True if the follower gets no notices about other followers. Only admins use this setting. */
  readonly followersMuted: boolean;
  /** The time since which the person follows the channel, in Unix milliseconds. */
  readonly since: number;
}

export interface ChannelView {
  /** `…@newsletter` */
  readonly jid: string;
  readonly name: string;
  readonly description: string;
  /** The code of the link. */
  readonly invite: string;
  /** The public name; null without one. */
  readonly handle: string | null;
  /** The id of the picture. */
  readonly picture?: string;
  readonly reactions: ReactionCodes;
  readonly state: 'ACTIVE' | 'SUSPENDED' | 'GEOSUSPENDED' | 'DELETED';
  readonly verified: boolean;
  /** The country in the directory, two letters; '' for none. */
  readonly country: string;
  /** The time of the creation, in Unix milliseconds. */
  readonly createdAt: number;
  readonly followers: readonly FollowerView[];
  /** Invitations to become an admin that were neither accepted nor revoked, including expired invitations. `expiresAt`: Unix time in milliseconds. */
  readonly invitations: readonly { readonly number: Digits; readonly expiresAt: number }[];
}

/** Actions of people on a channel. The platform checks the same rights as for clients. */
export type ChannelChange =
  | { readonly action: 'follow' | 'unfollow' | 'mute' | 'unmute' | 'acceptAdmin' | 'delete' }
  /** Changes the name or the description, or posts a status. A status is not stored. */
  | { readonly action: 'name' | 'description' | 'status'; readonly text: string }
  /** Sets the picture. `data` has the bytes in base64; '' removes the picture. */
  | { readonly action: 'picture'; readonly data: string }
  | { readonly action: 'reactions'; readonly value: ReactionCodes }
  /** Changes the role of a person. A person who is invited to become an admin also gets the invitation as a message. */
  | { readonly action: 'inviteAdmin' | 'revokeAdmin' | 'removeAdmin' | 'transfer'; readonly who: Digits };

/** The facts of a channel that the platform itself decides. */
export interface ChannelFacts {
  readonly state?: 'ACTIVE' | 'SUSPENDED' | 'GEOSUSPENDED';
  readonly verified?: boolean;
  readonly handle?: string | null;
  readonly country?: string;
  /** If true, all open invitations to become an admin expire at once. */
  readonly expireInvitations?: boolean;
}

/** Channels, and actions of people on them. */
export interface ChannelsMethods {
  createChannel(input: { readonly name: string; readonly owner: Digits; readonly description?: string }): Promise<ChannelView>;
  changeChannel(jid: string, by: Digits, change: ChannelChange): Promise<ChannelView>;
  setChannelFacts(jid: string, facts: ChannelFacts): Promise<ChannelView>;
  /** Returns all channels, including deleted ones. */
  channels(): readonly ChannelView[];
  channel(jid: string): ChannelView;
}

// Posts of channels, as admins write them and followers see them.

export interface PostView {
  /** Number of the post in its channel. */
  readonly serverId: number;
  readonly id: string;
  readonly author: Digits;
  /** The time of the post, in Unix milliseconds. */
  readonly at: number;
  readonly edited: boolean;
  readonly deleted: boolean;
  /** The first field of the protobuf message; `empty` if the post was deleted. */
  readonly kind: string;
  /** The text or caption, '' when there is none. */
  readonly text: string;
  /** The protobuf message as JSON, bytes as base64. */
  readonly content: unknown;
  /** The number of people who viewed the post. */
  readonly views: number;
  /** The number of reactions with each emoji. */
  readonly reactions: Readonly<Record<string, number>>;
  /** The length and the SHA-256 in hex of the post's file, which was read and verified. Absent if the post has no file. */
  readonly file?: { readonly bytes: number; readonly sha256: string };
}

/** A change of a post. `by` is the person who makes the change; the owner if absent. */
export type PostChange =
  | { readonly action: 'edit'; readonly text: string; readonly by?: Digits }
  | { readonly action: 'delete'; readonly by?: Digits }
  /** Reacts as the person `by`. An empty emoji removes the reaction. */
  | { readonly action: 'react'; readonly emoji: string; readonly by: Digits }
  | { readonly action: 'view'; readonly by: Digits };

/** Posts of channels, and actions on them. */
export interface PostsMethods {
  /** Posts a text, media or a poll. `by` is an admin; the owner if absent. */
  post(
    channel: string,
    input: { readonly content: Content; readonly by?: Digits },
  ): Promise<{ readonly id: string; readonly serverId: number }>;
  changePost(channel: string, serverId: number, change: PostChange): Promise<PostView>;
  /** Returns the newest posts with a `serverId` below `before`, newest first. At most 300. */
  posts(channel: string, page?: { readonly before?: number; readonly limit?: number }): Promise<readonly PostView[]>;
}
