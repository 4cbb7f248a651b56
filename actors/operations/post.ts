/** Operations on channel posts. The operations refuse with `forbidden` without the right, and with `notFound` for an unknown channel or post. */
import type { ChangedPost, ListedPost, PostName } from '../model.ts';

/** The range of a search for a post by its platform id: `pages` pages with `count` of the newest posts each. */
export interface PostSearch {
  readonly count: number;
  readonly pages: number;
}

/** A post with its number or its platform id. The unknown one is 0 or ''. */
interface Change {
  readonly post: PostName;
  readonly search: PostSearch;
}

export interface PostOperations {
  /** Returns the newest posts, or those before a number (0 for none), newest first. An answer has at most 300 posts. */
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
  /** Reacts to a post; an empty text removes the reaction. `messageId`: the id of the reaction; '' for a new one. */
  'post.react': {
    readonly input: { readonly channel: string; readonly serverId: number; readonly text: string; readonly messageId: string };
    readonly answer: null;
  };
  /** Replaces the text or caption of a post. `mediaId`: another file that was uploaded for the post; '' for none. */
  'post.edit': { readonly input: Change & { readonly text: string; readonly mediaId: string }; readonly answer: ChangedPost };
  /** Deletes a post for everyone. */
  'post.delete': { readonly input: Change; readonly answer: ChangedPost };
  /** Subscribes to live updates of views and reactions. Returns the duration in seconds. */
  'post.follow': { readonly input: { readonly channel: string }; readonly answer: { readonly seconds: number } };
}
