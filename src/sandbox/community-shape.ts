/** The fields of a group that is a community or belongs to one, and the nodes for them in the group's metadata. */
import { node, type BinaryNode } from './nodes.ts';

export interface CommunityFields {
  /** True if the group is a community. */
  readonly isParent?: boolean;
  /** The community to which the group belongs. */
  parent?: string | undefined;
  /** The role of a group that the platform made for the community: the announcement group or the general group. */
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
