/** Changes of groups, read from the platform's notifications: what a chat keeps of them, and which events follow. The library reads only the first. */
import { getBinaryNodeChild, getBinaryNodeChildren, getBinaryNodeChildString, type BinaryNode } from '@whiskeysockets/baileys';
import type { ChatPatch, Entry, Group, GroupEvent, GroupSettings, MemberAction, Person } from '#actors/model.ts';
import { type Directory, isMe, personOf } from '../wire/directory.ts';
import { bare } from '../wire/jid.ts';
import { approvalIn, groupJid, groupOfNode, peopleIn, rawOf, timeOf } from './group-nodes.ts';

/** A change, its author and its time. */
interface Happened {
  readonly groupId: string;
  readonly by: Person;
  readonly byName: string;
  readonly at: number;
}

const isOwn = (directory: Directory, { pn, lid }: Person): boolean => isMe(directory, pn) || isMe(directory, lid);

/** The part of a group's settings that its chat keeps. */
const patchOf = (settings: GroupSettings): Partial<ChatPatch> => ({
  ...(settings.subject === undefined ? {} : { name: settings.subject.text }),
  ...(settings.announce === undefined ? {} : { groupAnnounce: settings.announce }),
  ...(settings.ephemeral === undefined ? {} : { ephemeralExpiration: settings.ephemeral }),
});

/** The part of a whole group that its chat keeps. */
export const groupPatch = (group: Group, directory: Directory): ChatPatch => {
  const own = group.members.find((member) => isOwn(directory, member));
  return {
    chatId: group.id,
    isGroup: true,
    ...patchOf(group),
    ...(group.isCommunity === undefined ? {} : { groupCommunity: group.isCommunity }),
    groupMember: own !== undefined,
    groupAdmin: own?.isAdmin ?? false,
  };
};

/** The account is in a group no more. */
export const goneEntries = (groupId: string): readonly Entry[] => [
  { kind: 'chat', chat: { chatId: groupId, groupMember: false, groupAdmin: false }, create: false },
  { kind: 'groupGone', groupId },
];

/** A group as an answer of the platform has it. */
export const wholeEntries = (group: Group, directory: Directory): readonly Entry[] => [
  { kind: 'group', group },
  { kind: 'chat', chat: groupPatch(group, directory), create: false },
];

/** A group that the account made: its chat is there at once. */
export const createdEntries = (group: Group, directory: Directory): readonly Entry[] => [
  { kind: 'group', group },
  { kind: 'chat', chat: groupPatch(group, directory), create: true },
];

export const groupNews = ({ groupId, ...happened }: Happened, change: GroupEvent): Entry => ({
  kind: 'news',
  lane: groupId,
  news: { type: 'groups', group: { groupId, ...happened, change } },
});

const settingsChanged = (happened: Happened, settings: GroupSettings): Entry[] => {
  const patch = patchOf(settings);
  const event = groupNews(happened, { kind: 'settings', settings });
  if (Object.keys(patch).length === 0) return [event];
  return [{ kind: 'chat', chat: { chatId: happened.groupId, ...patch }, create: false }, event];
};

type Reader = (node: BinaryNode, happened: Happened, directory: Directory) => Entry[];

const setting =
  (read: (node: BinaryNode, happened: Happened, directory: Directory) => GroupSettings): Reader =>
  (node, happened, directory) =>
    settingsChanged(happened, read(node, happened, directory));

/** Returns the effect of a change of members on the account itself. */
const ownEntries = (groupId: string, action: MemberAction): readonly Entry[] => {
  if (action === 'leave') return goneEntries(groupId);
  const own: Partial<ChatPatch> = action === 'join' ? { groupMember: true } : { groupAdmin: action === 'promote' };
  return [{ kind: 'chat', chat: { chatId: groupId, ...own }, create: false }];
};

const members =
  (action: MemberAction): Reader =>
  (node, happened, directory) => {
    const people = peopleIn(node, directory);
    const { reason, prev_v_id: before, v_id: after } = node.attrs;
    const versions = before === undefined || after === undefined ? {} : { versions: { before, after } };
    const event = groupNews(happened, { kind: 'members', action, people, ...(reason === undefined ? {} : { reason }), ...versions });
    return people.some((one) => isOwn(directory, one)) ? [event, ...ownEntries(happened.groupId, action)] : [event];
  };

const entered: Reader = (node, happened, directory) => {
  const found = getBinaryNodeChild(node, 'group');
  if (found === undefined) return [];
  const group = groupOfNode(found, directory);
  const { reason } = node.attrs;
  const event = groupNews({ ...happened, groupId: group.id }, { kind: 'entered', group, ...(reason === undefined ? {} : { reason }) });
  return [{ kind: 'chat', chat: groupPatch(group, directory), create: true }, event];
};

/** The element names the new address; the notification comes from the old one. */
const renamed: Reader = (node, happened, directory) =>
  peopleIn(node, directory)
    .slice(0, 1)
    .map((to) => groupNews(happened, { kind: 'renamed', from: happened.by, to }));

const linked =
  (kind: 'linked' | 'unlinked'): Reader =>
  (node, happened) => {
    const groups = getBinaryNodeChildren(node, 'group').map(({ attrs }) => ({
      id: groupJid(attrs['jid'] ?? attrs['id']),
      subject: attrs['subject'] ?? '',
    }));
    const { link_type: link = '', unlink_type: unlink = '', unlink_reason: reason = '' } = node.attrs;
    return [groupNews(happened, { kind, type: link || unlink, reason, groups })];
  };

const topic: Reader = setting((node, { by, at }) => {
  const { id, t, delete: removed } = node.attrs;
  const isRemoved = removed === 'true' || getBinaryNodeChild(node, 'delete') !== undefined;
  const text = isRemoved ? '' : (getBinaryNodeChildString(node, 'body') ?? '');
  return { topic: { text, by, at: timeOf(t, at), ...(id === undefined ? {} : { id }) } };
});

/** Readers by the tag of the element. An unknown tag becomes an event as it came. */
const readers: Readonly<Record<string, Reader>> = {
  create: entered,
  add: members('join'),
  remove: members('leave'),
  leave: members('leave'),
  promote: members('promote'),
  demote: members('demote'),
  modify: renamed,
  subject: setting(({ attrs }, { by, at }, directory) => ({
    subject: {
      text: attrs['subject'] ?? '',
      by: attrs['s_o'] === undefined ? by : personOf(directory, attrs['s_o'], attrs['s_o_pn'], by.pn, by.lid),
      at: timeOf(attrs['s_t'], at),
    },
  })),
  description: topic,
  announcement: setting(() => ({ announce: true })),
  not_announcement: setting(() => ({ announce: false })),
  locked: setting(() => ({ locked: true })),
  unlocked: setting(() => ({ locked: false })),
  ephemeral: setting(({ attrs }) => ({ ephemeral: Number(attrs['expiration'] ?? 0) || 0 })),
  not_ephemeral: setting(() => ({ ephemeral: 0 })),
  membership_approval_mode: setting((node) => ({ joinApproval: approvalIn(node) })),
  member_add_mode: setting((node) => ({ whoAddsMembers: rawOf(node).content === 'all_member_add' ? 'all' : 'admins' })),
  invite: setting(({ attrs }) => ({ inviteCode: attrs['code'] ?? '' })),
  suspended: setting(() => ({ suspended: true })),
  unsuspended: setting(() => ({ suspended: false })),
  link: linked('linked'),
  unlink: linked('unlinked'),
  delete: ({ attrs }, happened) => [
    groupNews(happened, { kind: 'deleted', reason: attrs['reason'] ?? '' }),
    ...goneEntries(happened.groupId),
  ],
};

const other: Reader = (node, happened) => [groupNews(happened, { kind: 'other', raw: rawOf(node) })];

const childrenOf = ({ content }: BinaryNode): readonly BinaryNode[] => (Array.isArray(content) ? content : []);

/** A notification of type `w:gp2`; each of its elements is a change. */
export const fromGroupNotification = (node: BinaryNode, directory: Directory): Entry[] => {
  const { from, participant, participant_pn: pn, participant_lid: lid, notify = '', t } = node.attrs;
  const happened: Happened = {
    groupId: bare(from),
    by: personOf(directory, participant, pn, lid),
    byName: notify,
    at: timeOf(t, directory.now()),
  };
  return childrenOf(node).flatMap((child) => (Object.hasOwn(readers, child.tag) ? readers[child.tag]! : other)(child, happened, directory));
};

/** Addresses in a notification whose other form it may not say. */
export const groupAddresses = (node: BinaryNode): readonly string[] => [
  node.attrs['participant'] ?? '',
  ...childrenOf(node).flatMap((child) => getBinaryNodeChildren(child, 'participant').map(({ attrs }) => attrs['jid'] ?? '')),
];
