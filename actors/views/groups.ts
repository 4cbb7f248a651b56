/** Gateway methods for groups, in addition to the operations. */
import type { Group, InstanceId, Result } from '../model.ts';
import type { GroupQuery } from '../ports.ts';

export interface GroupFace {
  /**
   * Returns the stored groups of the account, also without a connected session. Asks the platform if the groups were never listed, or with `force`,
   * which works once in some seconds.
   */
  listGroups(
    id: InstanceId,
    query: GroupQuery & { readonly force: boolean },
  ): Promise<Result<{ readonly groups: readonly Group[]; readonly total: number }>>;
  /**
   * Sets the picture of a group from a URL, a data URL or base64; '' removes it. Refuses like a file of a message if the picture is not valid.
   * Returns the group; null if the group is unknown.
   */
  setGroupPicture(id: InstanceId, groupId: string, source: string): Promise<Result<Group | null>>;
}
