/** Queries of stored groups. The journal writes groups. */
import type { Group, InstanceId } from '../model.ts';

export interface GroupQuery {
  /** A part of the name, case-insensitive, or the id; '' for all. */
  readonly search: string;
  /** False to leave out the members. */
  readonly members: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

export interface KnownGroups {
  /** Names of all groups by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Groups that belong to a community. `isDefault` marks the announcement group. */
  readonly memberships: readonly { readonly id: string; readonly parent: string; readonly isDefault: boolean }[];
  /** URLs of the pictures of these communities; '' if unknown. */
  readonly pictures: readonly { readonly id: string; readonly image: string; readonly preview: string }[];
  /** The last time at which the platform listed all groups. Unix milliseconds; null for never. */
  readonly listedAt: number | null;
}

export interface GroupStore {
  /** Returns a page of groups in the order of their ids. `total` counts all matches. */
  find(instance: InstanceId, query: GroupQuery): Promise<{ readonly groups: readonly Group[]; readonly total: number }>;
  get(instance: InstanceId, groupId: string): Promise<Group | null>;
  /**
   * Returns groups with a member under one of these addresses (phone jid, LID), in the order of their ids. An index keeps the cost independent of the
   * number of groups.
   */
  common(instance: InstanceId, addresses: readonly string[]): Promise<readonly NamedGroup[]>;
  /** Returns the last time at which the platform listed all groups. Unix milliseconds; null for never. */
  listedAt(instance: InstanceId): Promise<number | null>;
  /** Returns the names of all groups, and the time of the last listing. */
  known(instance: InstanceId): Promise<KnownGroups>;
}
