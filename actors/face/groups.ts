/** What the gateway offers on groups, beside their operations. */
import type { Group, InstanceId, Result } from '../model.ts';
import type { GroupQuery } from '../ports.ts';

export interface GroupFace {
  /**
   * Groups of the account as they are stored; a session need not be connected. The platform is asked when they were never listed, and with `force`, which
   * is honoured once in some seconds.
   */
  listGroups(
    id: InstanceId,
    query: GroupQuery & { readonly force: boolean },
  ): Promise<Result<{ readonly groups: readonly Group[]; readonly total: number }>>;
  /**
   * Sets the picture of a group: an address, a data URL or base64 of a picture; '' takes it away. Refused like a file of a message when the picture is
   * none. Answers with the group, null where it is not known.
   */
  setGroupPicture(id: InstanceId, groupId: string, source: string): Promise<Result<Group | null>>;
}
