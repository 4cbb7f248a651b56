/** Storage of the groups that accounts are in. The journal writes it. */
import type { Group, InstanceId } from '../model.ts';

export interface GroupQuery {
  /** Part of the name, in any case, or the id; '' for all. */
  readonly search: string;
  /** False: groups come without their members. */
  readonly members: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

export interface KnownGroups {
  /** Of all groups, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Groups that belong to a community. `isDefault`: the group of its announcements. */
  readonly memberships: readonly { readonly id: string; readonly parent: string; readonly isDefault: boolean }[];
  /** Addresses of the pictures of these communities, '' for what is unknown. */
  readonly pictures: readonly { readonly id: string; readonly image: string; readonly preview: string }[];
  /** When the platform listed all groups last, in Unix milliseconds; null: never. */
  readonly listedAt: number | null;
}

export interface GroupStore {
  /** In the order of their ids. `total`: how many fit the search. */
  find(instance: InstanceId, query: GroupQuery): Promise<{ readonly groups: readonly Group[]; readonly total: number }>;
  get(instance: InstanceId, groupId: string): Promise<Group | null>;
  /** Groups that have a member with one of these addresses (phone jid, LID), in the order of their ids. By an index: its cost does not grow with groups. */
  common(instance: InstanceId, addresses: readonly string[]): Promise<readonly NamedGroup[]>;
  /** When the platform listed all groups last, in Unix milliseconds; null: never. */
  listedAt(instance: InstanceId): Promise<number | null>;
  /** All groups by name alone, and when the platform listed them. */
  known(instance: InstanceId): Promise<KnownGroups>;
}
