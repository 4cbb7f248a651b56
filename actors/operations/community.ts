/** What the platform can be asked about communities. Ids are those of groups. */
import type { Group } from '../model.ts';

export interface CommunityOperations {
  /** Makes a community. The platform makes its group of announcements, and one in which all members talk. */
  'community.create': { readonly input: { readonly name: string }; readonly answer: { readonly group: Group } };
  /** Puts groups into a community, or takes them out of it. Each group is in one of the lists of the answer. */
  'community.edit': {
    readonly input: { readonly communityId: string; readonly action: 'add' | 'remove'; readonly groupIds: readonly string[] };
    readonly answer: { readonly done: readonly string[]; readonly failed: readonly string[] };
  };
}
