/** What the platform can be asked about posts of channels. Refused: `forbidden` without the right, `notFound` where there is no such channel or post. */
import type { ChangedPost, ListedPost, PostName } from '../model.ts';

/** Where a post is searched that is named by its platform id alone: so many pages of the newest posts. */
export interface PostSearch {
  readonly count: number;
  readonly pages: number;
}

/** A post of which the number or the platform id is known; the other one is 0 or ''. */
interface Change {
  readonly post: PostName;
  readonly search: PostSearch;
}

export interface PostOperations {
  /** The newest posts, or those before a number (0: none), newest first. At most 300 are answered at once. */
  'post.list': {
    readonly input: { readonly channel: string; readonly count: number; readonly before: number };
    readonly answer: readonly ListedPost[];
  };
  /** Views and reactions of posts; of those after a number (0: none), or that changed since a time in Unix seconds (0: ever). */
  'post.updates': {
    readonly input: { readonly channel: string; readonly count: number; readonly after: number; readonly since: number };
    readonly answer: readonly ListedPost[];
  };
  /** Counts posts as seen by the account. */
  'post.view': { readonly input: { readonly channel: string; readonly serverIds: readonly number[] }; readonly answer: null };
  /** Reacts to a post; an empty text takes the reaction back. `messageId`: of the reaction; '' for a new one. */
  'post.react': {
    readonly input: { readonly channel: string; readonly serverId: number; readonly text: string; readonly messageId: string };
    readonly answer: null;
  };
  /** Replaces the text or caption of a post. `mediaId`: of another file that was uploaded for it; '' for none. */
  'post.edit': { readonly input: Change & { readonly text: string; readonly mediaId: string }; readonly answer: ChangedPost };
  /** Takes a post back. */
  'post.delete': { readonly input: Change; readonly answer: ChangedPost };
  /** Asks for live updates of views and reactions. Answers with how many seconds they come. */
  'post.follow': { readonly input: { readonly channel: string }; readonly answer: { readonly seconds: number } };
}
