/** Operations on channels. `channelId`: such as `120363153742561022@newsletter`; `person`: a number or an id as a client writes it. */
import type { Channel, ChannelView, ReactionCodes } from '../model.ts';

/** One change of a channel. */
export type ChannelWish =
  | { readonly of: 'name' | 'description'; readonly text: string }
  | { readonly of: 'reactions'; readonly codes: ReactionCodes }
  /** A JPEG; null removes the picture. */
  | { readonly of: 'picture'; readonly jpeg: Uint8Array | null };

/** A query for one page of the public directory. */
export interface ChannelSearch {
  /** Words in the name, description or public name; null lists by `view` and `countries`. */
  readonly text: string | null;
  readonly view: ChannelView;
  /** Country codes of two letters; empty for all. */
  readonly countries: readonly string[];
  readonly limit: number;
  /** The cursor of the previous page; '' for the first page. */
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
   * Invites a person to become an admin. The platform does not notify the person. `expiresAt`: Unix seconds. `person`: the number or id to which the
   * invitation has to be sent.
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
  /** Makes an admin the owner. With `quit`, the account also gives up the admin right that it would keep. */
  'channel.transfer': {
    readonly input: { readonly channelId: string; readonly person: string; readonly quit: boolean };
    readonly answer: null;
  };
}
