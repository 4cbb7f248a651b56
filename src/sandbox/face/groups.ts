/** Groups as their members use them, and channels with their posts as their owners, admins and followers use them. */
import type { Digits } from './common.ts';
import type { Content } from './messages.ts';

// Groups, as their members make and change them.

/** A rule of a group. `approval`: admins confirm who joins. `adminAdd`: only admins add people. `ephemeral`: messages disappear after so many seconds (0: never). */
export type GroupRule =
  | { readonly action: 'announce' | 'locked' | 'approval' | 'adminAdd'; readonly on: boolean }
  | { readonly action: 'ephemeral'; readonly seconds: number }
  /** Replaces the link by which people join. */
  | { readonly action: 'invite' };

/** Actions of members in a group. `approve`, `reject`: of people who asked to join. */
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
  /** True: admins confirm who joins. */
  readonly approval: boolean;
  /** True: only admins add people. */
  readonly adminAdd: boolean;
  /** Seconds after which messages disappear; 0: never. */
  readonly ephemeral: number;
  /** The code of the link. */
  readonly invite: string;
  /** The id of the picture. */
  readonly picture?: string;
  /** It is a community: a group of groups. */
  readonly isCommunity?: boolean;
  /** The community that it belongs to. */
  readonly parent?: string;
  /** The role of a group that the platform made for the community: its announcements, or the general group. */
  readonly role?: 'announcement' | 'general';
  /** People who asked to join. `at`: Unix time in milliseconds. */
  readonly requests: readonly { readonly number: Digits; readonly at: number; readonly method: string }[];
  /** People who could not be added and may be sent an invitation. `expiration`: Unix seconds. */
  readonly invited: readonly { readonly number: Digits; readonly code: string; readonly expiration: number }[];
  readonly participants: readonly { readonly number: Digits; readonly admin: 'admin' | 'superadmin' | null }[];
}

/** Groups, and actions of their members. */
export interface GroupsFace {
  createGroup(input: {
    readonly subject: string;
    readonly creator: Digits;
    readonly participants: readonly Digits[];
    /** The form in which members are named on the wire. Absent: by number. */
    readonly addressing?: 'pn' | 'lid';
  }): Promise<GroupView>;
  updateGroup(jid: string, by: Digits, change: GroupChange): Promise<GroupView>;
  /** A person follows the link of a group. `joined` is false when an admin has to approve first. */
  joinGroup(number: Digits, code: string): Promise<{ readonly jid: string; readonly joined: boolean }>;
  /** Makes a community with its announcement group. Returns the community. */
  createCommunity(input: { readonly subject: string; readonly creator: Digits; readonly addressing?: 'pn' | 'lid' }): Promise<GroupView>;
  /** An admin puts groups into the community, or takes them out of it. Groups that the platform refuses have its code. */
  editCommunity(
    jid: string,
    by: Digits,
    change: { readonly action: 'link' | 'unlink'; readonly groups: readonly string[] },
  ): Promise<readonly { readonly jid: string; readonly error?: string }[]>;
  groups(): readonly GroupView[];
}

// Channels and their posts, as their owners, admins and followers use them.

// Channels, as their owners, admins and followers use them.

export type ChannelRole = 'OWNER' | 'ADMIN' | 'SUBSCRIBER';

/** The emojis that followers may react with. */
export type ReactionCodes = 'ALL' | 'BASIC' | 'NONE';

/** A follower of a channel. The owner and the admins follow it too. */
interface FollowerView {
  readonly number: Digits;
  readonly role: ChannelRole;
  /** No notices of new posts. */
  readonly muted: boolean;
  /** True if the follower gets no notices about other followers. Only admins use this setting. */
  readonly followersMuted: boolean;
  /** Unix time in milliseconds. */
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
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  readonly followers: readonly FollowerView[];
  /** Open invitations of admins. `expiresAt`: Unix time in milliseconds. */
  readonly invitations: readonly { readonly number: Digits; readonly expiresAt: number }[];
}

/** Actions of people on a channel. The rights are those that the platform enforces for clients. */
export type ChannelChange =
  | { readonly action: 'follow' | 'unfollow' | 'mute' | 'unmute' | 'acceptAdmin' | 'delete' }
  /** `status`: posts a status, which no channel keeps. */
  | { readonly action: 'name' | 'description' | 'status'; readonly text: string }
  /** `data`: the bytes in base64; '' removes the picture. */
  | { readonly action: 'picture'; readonly data: string }
  | { readonly action: 'reactions'; readonly value: ReactionCodes }
  /** An invitation also reaches the person as a message. */
  | { readonly action: 'inviteAdmin' | 'revokeAdmin' | 'removeAdmin' | 'transfer'; readonly who: Digits };

/** The facts of a channel that the platform itself decides. */
export interface ChannelFacts {
  readonly state?: 'ACTIVE' | 'SUSPENDED' | 'GEOSUSPENDED';
  readonly verified?: boolean;
  readonly handle?: string | null;
  readonly country?: string;
  /** True: invitations of admins have run out. */
  readonly expireInvitations?: boolean;
}

/** Channels, and actions of people on them. */
export interface ChannelsFace {
  createChannel(input: { readonly name: string; readonly owner: Digits; readonly description?: string }): Promise<ChannelView>;
  changeChannel(jid: string, by: Digits, change: ChannelChange): Promise<ChannelView>;
  setChannelFacts(jid: string, facts: ChannelFacts): Promise<ChannelView>;
  /** All channels, deleted ones too. */
  channels(): readonly ChannelView[];
  channel(jid: string): ChannelView;
}

// Posts of channels, as admins write them and followers see them.

export interface PostView {
  /** Number of the post in its channel. */
  readonly serverId: number;
  readonly id: string;
  readonly author: Digits;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly edited: boolean;
  readonly deleted: boolean;
  /** The first field of the protobuf message; `empty` when it was taken back. */
  readonly kind: string;
  /** The text or caption, '' when there is none. */
  readonly text: string;
  /** The protobuf message as JSON, bytes as base64. */
  readonly content: unknown;
  /** Counts of people. */
  readonly views: number;
  /** Counts by emoji. */
  readonly reactions: Readonly<Record<string, number>>;
  /** The length and the SHA-256 in hex of the post's file, which was read and verified. Absent without a file. */
  readonly file?: { readonly bytes: number; readonly sha256: string };
}

/** `by`: an admin; the owner if absent. */
export type PostChange =
  | { readonly action: 'edit'; readonly text: string; readonly by?: Digits }
  | { readonly action: 'delete'; readonly by?: Digits }
  /** Reacts as any person. An empty emoji removes the reaction. */
  | { readonly action: 'react'; readonly emoji: string; readonly by: Digits }
  | { readonly action: 'view'; readonly by: Digits };

/** Posts of channels, and actions on them. */
export interface PostsFace {
  /** `by`: an admin; the owner if absent. The content is a text, media or a poll. */
  post(
    channel: string,
    input: { readonly content: Content; readonly by?: Digits },
  ): Promise<{ readonly id: string; readonly serverId: number }>;
  changePost(channel: string, serverId: number, change: PostChange): Promise<PostView>;
  /** Newest first, those before the number `before`. At most 300. */
  posts(channel: string, page?: { readonly before?: number; readonly limit?: number }): Promise<readonly PostView[]>;
}
