/** Operations on communities. Ids are group ids. */
import type { Group } from '../model.ts';

export interface CommunityOperations {
  /** Creates a community. The platform adds its announcement group, and a group in which all members talk. */
  'community.create': { readonly input: { readonly name: string }; readonly answer: { readonly group: Group } };
  /** Adds groups to a community, or removes them. The answer lists each group as done or failed. */
  'community.edit': {
    readonly input: { readonly communityId: string; readonly action: 'add' | 'remove'; readonly groupIds: readonly string[] };
    readonly answer: { readonly done: readonly string[]; readonly failed: readonly string[] };
  };
}
