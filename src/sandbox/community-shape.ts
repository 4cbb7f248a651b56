/** What a group has that is a community or belongs to one, and how its metadata says so. */
import { node, type BinaryNode } from './nodes.ts';

export interface CommunityFields {
  /** The group is a community. */
  readonly isParent?: boolean;
  /** The community that it belongs to. */
  parent?: string | undefined;
  /** What the platform itself made for the community: the group in which its admins write to everybody, or the one in which all talk. */
  readonly role?: 'announcement' | 'general';
}

export const communityNodes = ({ isParent, parent, role }: CommunityFields): BinaryNode[] => [
  ...(isParent ? [node('parent', { default_membership_approval_mode: 'request_required' })] : []),
  ...(parent === undefined ? [] : [node('linked_parent', { jid: parent })]),
  ...(role === 'announcement' ? [node('default_sub_group')] : []),
  ...(role === 'general' ? [node('general_chat')] : []),
];

export const viewCommunity = ({ isParent, parent, role }: CommunityFields) => ({
  ...(isParent ? { isCommunity: true } : {}),
  ...(parent === undefined ? {} : { parent }),
  ...(role === undefined ? {} : { role }),
});
