/** Operations on channels. `channelId`: an id such as `120363153742561022@newsletter`; `person`: a number or an id as a client writes it. */
import type { ChangedPost, Channel, ChannelView, ListedPost, PostName, ReactionCodes } from '../model.ts';

/** One change of a channel. */
export type ChannelWish =
  | { readonly of: 'name' | 'description'; readonly text: string }
  | { readonly of: 'reactions'; readonly codes: ReactionCodes }
  /** A JPEG; null removes the picture. */
  | { readonly of: 'picture'; readonly jpeg: Uint8Array | null };

/** A query for one page of the public directory. */
interface ChannelSearch {
  /** Words to find in the name, the description or the public name; null to list channels by `view` and `countries`. */
  readonly text: string | null;
  readonly view: ChannelView;
  /** Country codes of two letters; empty for all. */
  readonly countries: readonly string[];
  readonly limit: number;
  /** The cursor that the answer for the previous page contained; '' for the first page. */
  readonly after: string;
}

export interface ChannelOperations {
  'channel.create': {
    readonly input: { readonly name: string; readonly description: string; readonly jpeg: Uint8Array | null };
    readonly answer: Channel;
  };
  /**
   * Asks for all channels that the account follows, in one request. The channels are stored when the operation resolves. `known`: ids of the stored
   * channels.
   */
  'channel.refresh': { readonly input: { readonly known: readonly string[] }; readonly answer: readonly Channel[] };
  /** Asks for the current state of one channel, by its id or by its invitation code. The account need not follow the channel. */
  'channel.look': { readonly input: { readonly by: 'id' | 'invite'; readonly key: string }; readonly answer: Channel };
  'channel.follow': { readonly input: { readonly channelId: string; readonly follow: boolean }; readonly answer: null };
  'channel.mute': { readonly input: { readonly channelId: string; readonly mute: boolean }; readonly answer: null };
  'channel.change': { readonly input: { readonly channelId: string; readonly wish: ChannelWish }; readonly answer: null };
  'channel.delete': { readonly input: { readonly channelId: string }; readonly answer: null };
  'channel.find': {
    readonly input: ChannelSearch;
    /** `after`: the cursor of the next page; null on the last page. */
    readonly answer: { readonly channels: readonly Channel[]; readonly after: string | null };
  };
  /**
   * Invites a person to become an admin. The platform does not notify the person, so the caller has to send the person a message with the invitation.
   * `expiresAt`: Unix seconds. `name`: the name of the channel.
   */
  'channel.inviteAdmin': {
    readonly input: { readonly channelId: string; readonly person: string };
    readonly answer: { readonly expiresAt: number; readonly name: string };
  };
  'channel.acceptAdmin': { readonly input: { readonly channelId: string }; readonly answer: null };
  /** Revokes the right of an admin, or an invitation. */
  'channel.dropAdmin': {
    readonly input: { readonly channelId: string; readonly person: string; readonly what: 'right' | 'invitation' };
    readonly answer: null;
  };
  /** Makes an admin the owner. The account stays an admin, unless `quit` is true. */
  'channel.transfer': {
    readonly input: { readonly channelId: string; readonly person: string; readonly quit: boolean };
    readonly answer: null;
  };
}

// Operations on channel posts. Each operation refuses with `forbidden` if the account lacks the right, and with `notFound` for an unknown channel
// or post.

/** The range in which a post is searched by its platform id: the newest `pages` pages with `count` posts each. */
export interface PostSearch {
  readonly count: number;
  readonly pages: number;
}

/** A post to change. Its number or its platform id is known. An unknown number is 0, and an unknown id is ''. */
interface Change {
  readonly post: PostName;
  readonly search: PostSearch;
}

export interface PostOperations {
  /** Returns posts, newest first. `before`: only posts before this number (0 for all). An answer contains at most 300 posts. */
  'post.list': {
    readonly input: { readonly channel: string; readonly count: number; readonly before: number };
    readonly answer: readonly ListedPost[];
  };
  /**
   * Returns views and reactions of posts. `after`: only posts after this number (0 for all). `since`: only posts that changed since this time, in
   * Unix seconds (0 for all).
   */
  'post.updates': {
    readonly input: { readonly channel: string; readonly count: number; readonly after: number; readonly since: number };
    readonly answer: readonly ListedPost[];
  };
  /** Marks posts as seen by the account. */
  'post.view': { readonly input: { readonly channel: string; readonly serverIds: readonly number[] }; readonly answer: null };
  /** Reacts to a post; an empty text removes the reaction. `messageId`: the id of the reaction; '' for a new id. */
  'post.react': {
    readonly input: { readonly channel: string; readonly serverId: number; readonly text: string; readonly messageId: string };
    readonly answer: null;
  };
  /** Replaces the text or caption of a post. `mediaId`: the platform's id of an uploaded file that replaces the former file; '' for none. */
  'post.edit': { readonly input: Change & { readonly text: string; readonly mediaId: string }; readonly answer: ChangedPost };
  /** Deletes a post for everyone. */
  'post.delete': { readonly input: Change; readonly answer: ChangedPost };
  /** Subscribes to live updates of views and reactions. `seconds`: the duration of the subscription. */
  'post.follow': { readonly input: { readonly channel: string }; readonly answer: { readonly seconds: number } };
}
