/** What the platform can be asked about channels. `channelId`: such as `120363153742561022@newsletter`; `person`: a number or an id, as a client writes it. */
import type { Channel, ChannelView, ReactionCodes } from '../model.ts';

/** One change of a channel. */
export type ChannelWish =
  | { readonly of: 'name' | 'description'; readonly text: string }
  | { readonly of: 'reactions'; readonly codes: ReactionCodes }
  /** A JPEG; null takes the picture away. */
  | { readonly of: 'picture'; readonly jpeg: Uint8Array | null };

/** Channels of the public directory, a page. */
export interface ChannelSearch {
  /** Words that name, description or public name hold; null lists by `view` and `countries`. */
  readonly text: string | null;
  readonly view: ChannelView;
  /** Two letters each; none for all. */
  readonly countries: readonly string[];
  readonly limit: number;
  /** The cursor of the page before; '' for the first page. */
  readonly after: string;
}

export interface ChannelOperations {
  'channel.create': {
    readonly input: { readonly name: string; readonly description: string; readonly jpeg: Uint8Array | null };
    readonly answer: Channel;
  };
  /** Asks for all channels that the account follows, in one request. They are stored when this was answered. `known`: ids of those that are stored. */
  'channel.refresh': { readonly input: { readonly known: readonly string[] }; readonly answer: readonly Channel[] };
  /** One channel as the platform knows it now, by its id or by the code of its link; a channel need not be followed. */
  'channel.look': { readonly input: { readonly by: 'id' | 'invite'; readonly key: string }; readonly answer: Channel };
  'channel.follow': { readonly input: { readonly channelId: string; readonly follow: boolean }; readonly answer: null };
  'channel.mute': { readonly input: { readonly channelId: string; readonly mute: boolean }; readonly answer: null };
  'channel.change': { readonly input: { readonly channelId: string; readonly wish: ChannelWish }; readonly answer: null };
  'channel.delete': { readonly input: { readonly channelId: string }; readonly answer: null };
  'channel.find': {
    readonly input: ChannelSearch;
    /** `after`: the cursor of the next page; null on the last one. */
    readonly answer: { readonly channels: readonly Channel[]; readonly after: string | null };
  };
  /** Allows a person to become an admin; the platform tells nobody of it. `expiresAt`: Unix seconds. `person`: the number or id to write to. */
  'channel.inviteAdmin': {
    readonly input: { readonly channelId: string; readonly person: string };
    readonly answer: { readonly expiresAt: number; readonly name: string };
  };
  'channel.acceptAdmin': { readonly input: { readonly channelId: string }; readonly answer: null };
  /** Takes the right from an admin, or an invitation back. */
  'channel.dropAdmin': {
    readonly input: { readonly channelId: string; readonly person: string; readonly what: 'right' | 'invitation' };
    readonly answer: null;
  };
  /** Makes an admin the owner. With `quit` the account lays down the right of an admin that it keeps otherwise. */
  'channel.transfer': {
    readonly input: { readonly channelId: string; readonly person: string; readonly quit: boolean };
    readonly answer: null;
  };
}
