/** Reads groups, their members and their changes from the platform's stanzas and notifications. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, getBinaryNodeChildString } from '@whiskeysockets/baileys';
import type {
  ChatPatch,
  Entry,
  Group,
  GroupEvent,
  GroupFacts,
  GroupMember,
  GroupSettings,
  MemberAction,
  Person,
  RawChange,
} from '#actors/model.ts';
import type { MemberOutcome } from '#actors/ports.ts';
import { bare, type Directory, isMe, personOf } from '../wire/jid.ts';

// Groups and members in the platform's stanzas, and its answers about single people. The library drops half of these fields.

const groupJid = (id: string | undefined): string => (id === undefined || id === '' ? '' : id.includes('@') ? id : `${id}@g.us`);

/** Returns a time in Unix milliseconds; `otherwise` if the platform does not give it. */
const timeOf = (seconds: string | undefined, otherwise: number): number => Number(seconds) * 1000 || otherwise;

const nobody: Person = { id: '', pn: '', lid: '' };

export const personOfNode = ({ attrs }: BinaryNode, directory: Directory): Person =>
  personOf(directory, attrs['jid'], attrs['phone_number'], attrs['lid']);

const memberOfNode = (node: BinaryNode, directory: Directory): GroupMember => ({
  ...personOfNode(node, directory),
  isAdmin: node.attrs['type'] === 'admin' || node.attrs['type'] === 'superadmin',
  isSuperAdmin: node.attrs['type'] === 'superadmin',
});

const peopleIn = (node: BinaryNode, directory: Directory): readonly Person[] =>
  getBinaryNodeChildren(node, 'participant').map((one) => personOfNode(one, directory));

const outcomeOf = (node: BinaryNode, directory: Directory): MemberOutcome => {
  const request = getBinaryNodeChild(node, 'add_request')?.attrs;
  return {
    person: personOfNode(node, directory),
    error: Number(node.attrs['error'] ?? 0) || 0,
    invitation: request?.['code'] ? { code: request['code'], expiresAt: timeOf(request['expiration'], 0) } : null,
  };
};

/** Returns the platform's answer for each person in a request. */
export const outcomesIn = (node: BinaryNode | undefined, directory: Directory): readonly MemberOutcome[] =>
  node === undefined ? [] : getBinaryNodeChildren(node, 'participant').map((one) => outcomeOf(one, directory));

const topicOf = (node: BinaryNode, directory: Directory): NonNullable<GroupFacts['topic']> => {
  const { id = '', t, participant, participant_pn: pn } = node.attrs;
  const text = getBinaryNodeChildString(node, 'body') ?? '';
  return { text, id, by: personOf(directory, participant, pn), at: timeOf(t, directory.now()) };
};

/** Returns true if joining needs approval. Some communities have the element with the state `off`. */
const approvalIn = (node: BinaryNode | undefined): boolean =>
  node !== undefined && getBinaryNodeChild(node, 'group_join')?.attrs['state'] !== 'off';

const addModeIn = (node: BinaryNode): 'all' | 'admins' =>
  getBinaryNodeChildString(node, 'member_add_mode') === 'all_member_add' ? 'all' : 'admins';

const factsOf = (node: BinaryNode, directory: Directory): GroupFacts => {
  const { attrs } = node;
  const has = (tag: string): boolean => getBinaryNodeChild(node, tag) !== undefined;
  const description = getBinaryNodeChild(node, 'description');
  const seconds = Number(getBinaryNodeChild(node, 'ephemeral')?.attrs['expiration'] ?? 0) || 0;
  return {
    owner: attrs['creator'] === undefined ? nobody : personOf(directory, attrs['creator'], attrs['creator_pn']),
    createdAt: Number(attrs['creation']) * 1000 || null,
    addressing: attrs['addressing_mode'] === 'lid' ? 'lid' : 'pn',
    subject: {
      text: attrs['subject'] ?? '',
      by: personOf(directory, attrs['s_o'], attrs['s_o_pn']),
      at: timeOf(attrs['s_t'], directory.now()),
    },
    topic: description === undefined ? null : topicOf(description, directory),
    locked: has('locked'),
    announce: has('announcement'),
    ephemeral: seconds,
    joinApproval: approvalIn(getBinaryNodeChild(node, 'membership_approval_mode')),
    whoAddsMembers: addModeIn(node),
    suspended: has('suspended'),
    parent: groupJid(getBinaryNodeChild(node, 'linked_parent')?.attrs['jid']),
    isCommunity: has('parent'),
    isDefaultSubgroup: has('default_sub_group'),
    isIncognito: has('incognito'),
    creatorCountry: attrs['creator_country_code'] ?? '',
    announceVersion: attrs['a_v_id'] ?? '',
    participantVersion: attrs['p_v_id'] ?? '',
  };
};

/** Reads a whole group from its element. The element also lists people whom the platform refused. They are left out. */
export const groupOfNode = (node: BinaryNode, directory: Directory): Group => ({
  ...factsOf(node, directory),
  id: groupJid(node.attrs['id']),
  members: getBinaryNodeChildren(node, 'participant')
    .filter(({ attrs }) => attrs['error'] === undefined)
    .map((one) => memberOfNode(one, directory)),
});

const contentOf = (content: BinaryNode['content']): RawChange['content'] => {
  if (Array.isArray(content)) return content.map(rawOf);
  if (content === undefined) return null;
  return typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
};

/** Copies an element with its content. */
const rawOf = ({ tag, attrs, content }: BinaryNode): RawChange => ({ tag, attrs: { ...attrs }, content: contentOf(content) });

// Changes of groups in the platform's notifications. A notification may have several changes, and the library reads only the first.

/** The group of a change, its author and its time. */
interface Happened {
  readonly groupId: string;
  readonly by: Person;
  readonly byName: string;
  readonly at: number;
}

const isOwn = (directory: Directory, { pn, lid }: Person): boolean => isMe(directory, pn) || isMe(directory, lid);

/** Returns those settings of a group that are stored with its chat. */
const patchOf = (settings: GroupSettings): Partial<ChatPatch> => ({
  ...(settings.subject === undefined ? {} : { name: settings.subject.text }),
  ...(settings.announce === undefined ? {} : { groupAnnounce: settings.announce }),
  ...(settings.ephemeral === undefined ? {} : { ephemeralExpiration: settings.ephemeral }),
});

/** Returns those fields of a group that are stored with its chat. */
const groupPatch = (group: Group, directory: Directory): ChatPatch => {
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

/** Returns the entries for a group that the account has left. */
export const goneEntries = (groupId: string): readonly Entry[] => [
  { kind: 'chat', chat: { chatId: groupId, groupMember: false, groupAdmin: false }, create: false },
  { kind: 'groupGone', groupId },
];

/** Returns the entries for a group from an answer of the platform. */
export const wholeEntries = (group: Group, directory: Directory): readonly Entry[] => [
  { kind: 'group', group },
  { kind: 'chat', chat: groupPatch(group, directory), create: false },
];

/** Returns the entries for a group that the account has created. Its chat is created at once. */
export const createdEntries = (group: Group, directory: Directory): readonly Entry[] => [
  { kind: 'group', group },
  { kind: 'chat', chat: groupPatch(group, directory), create: true },
];

const groupNews = ({ groupId, ...happened }: Happened, change: GroupEvent): Entry => ({
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

/** Returns the entries for a change of the account's own membership. */
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

/** Reads a change of a member's address. The element has the new address, and the notification has the old one as its author. */
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

/** Readers by the tag of the element. An unknown element becomes an event with its raw content. */
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

/** Converts a notification of type `w:gp2`. Each of its elements is a change. */
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

/** Returns the addresses of a notification for which the notification may not give the other form (number or LID). */
export const groupAddresses = (node: BinaryNode): readonly string[] => [
  node.attrs['participant'] ?? '',
  ...childrenOf(node).flatMap((child) => getBinaryNodeChildren(child, 'participant').map(({ attrs }) => attrs['jid'] ?? '')),
];
