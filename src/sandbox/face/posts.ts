/** Posts of channels, as admins write them and followers see them. */
import type { Digits } from './common.ts';
import type { Content } from './messages.ts';

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
  /** Present when the post has a file: its length, and SHA-256 in hex; it was read and verified. */
  readonly file?: { readonly bytes: number; readonly sha256: string };
}

/** `by`: an admin; the owner when left out. */
export type PostChange =
  | { readonly action: 'edit'; readonly text: string; readonly by?: Digits }
  | { readonly action: 'delete'; readonly by?: Digits }
  /** Anybody; an empty emoji takes the reaction back. */
  | { readonly action: 'react'; readonly emoji: string; readonly by: Digits }
  | { readonly action: 'view'; readonly by: Digits };

/** Posts of channels, and actions on them. */
export interface PostsFace {
  /** `by`: an admin; the owner when left out. Texts, media and polls. */
  post(
    channel: string,
    input: { readonly content: Content; readonly by?: Digits },
  ): Promise<{ readonly id: string; readonly serverId: number }>;
  changePost(channel: string, serverId: number, change: PostChange): Promise<PostView>;
  /** Newest first, those before the number `before`. At most 300. */
  posts(channel: string, page?: { readonly before?: number; readonly limit?: number }): Promise<readonly PostView[]>;
}
