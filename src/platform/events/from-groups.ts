/** Groups: what a chat keeps of one, and the `groups` event (contract/events.md), in which everything that did not change is null. */
import type { BaileysEventMap, GroupMetadata, proto, WAMessage } from '@whiskeysockets/baileys';
import type { ChatPatch, Entry } from '#actors/model.ts';
import { addressesOf, type Directory, isMe } from '../directory.ts';
import { bare } from '../jid.ts';

type Participants = BaileysEventMap['group-participants.update'];

const iso = (ms: number): string => new Date(ms).toISOString();

/** In the order of the contract. */
const changeable = [
  'Name',
  'Topic',
  'Locked',
  'Announce',
  'Ephemeral',
  'MembershipApprovalMode',
  'Delete',
  'Link',
  'Unlink',
  'NewInviteLink',
  'PrevParticipantVersionID',
  'ParticipantVersionID',
  'JoinReason',
  'Suspended',
  'Unsuspended',
  'UnknownChanges',
  'Join',
  'Leave',
  'Promote',
  'Demote',
  'JoinLid',
  'LeaveLid',
] as const;
type Changes = Partial<Record<(typeof changeable)[number], unknown>>;

const unchanged: Changes = Object.fromEntries(changeable.map((name) => [name, null]));

/** What a chat keeps of a group; only what the event names. */
export const groupPatch = (group: Partial<GroupMetadata> & { readonly id: string }, directory: Directory): ChatPatch => ({
  chatId: group.id,
  isGroup: true,
  ...(group.subject === undefined ? {} : { name: group.subject }),
  ...(group.announce === undefined ? {} : { groupAnnounce: group.announce }),
  ...(group.isCommunity === undefined ? {} : { groupCommunity: group.isCommunity }),
  ...(group.ephemeralDuration === undefined ? {} : { ephemeralExpiration: group.ephemeralDuration }),
  ...(group.participants === undefined
    ? {}
    : {
        groupMember: group.participants.some((member) => isMe(directory, member.id) || isMe(directory, member.phoneNumber)),
        groupAdmin: group.participants.some(
          (member) => Boolean(member.admin) && (isMe(directory, member.id) || isMe(directory, member.phoneNumber)),
        ),
      }),
});

/** The LID and the number of who did it, as far as they are told. */
type Author = readonly (string | null | undefined)[];

const groupEvent = (id: string, author: Author, changes: object, directory: Directory, type = 'Group'): Entry => {
  const by = addressesOf(directory, ...author);
  const event = {
    JID: id,
    // The library keeps the name of who did it to itself.
    Notify: null,
    Sender: bare(author[0]) || null,
    SenderPN: by.pn || null,
    Timestamp: iso(directory.now()),
    ...unchanged,
    ...changes,
    sender_pn: by.pn,
    sender_lid: by.lid,
  };
  return { kind: 'event', type: 'groups', lane: id, payload: { type, event } };
};

const ephemeral = (seconds: number) => ({ IsEphemeral: seconds > 0, DisappearingTimer: seconds });

/** What the interface has no word for, by the word of the platform. */
const unknownChange = (Tag: string, Content: string) => [{ Tag, Attrs: {}, Content }];

const settings = (group: Partial<GroupMetadata>, author: Author, directory: Directory): Changes => {
  const { pn, lid } = addressesOf(directory, ...author);
  // Times, in seconds, come with whole groups only; of a change they are that of the news.
  const setBy = (name: string, seconds: number | undefined) => ({
    [`${name}SetAt`]: iso(seconds === undefined ? directory.now() : seconds * 1000),
    [`${name}SetBy`]: lid || pn,
    [`${name}SetByPN`]: pn,
  });
  const topic = group.desc ?? '';
  return {
    ...(group.subject === undefined ? {} : { Name: { Name: group.subject, ...setBy('Name', group.subjectTime) } }),
    // A description that was removed is told as one without a value.
    ...(Object.hasOwn(group, 'desc') ? { Topic: { Topic: topic, TopicDeleted: topic === '', ...setBy('Topic', group.descTime) } } : {}),
    ...(group.restrict === undefined ? {} : { Locked: { IsLocked: group.restrict } }),
    ...(group.announce === undefined ? {} : { Announce: { IsAnnounce: group.announce } }),
    ...(group.ephemeralDuration === undefined ? {} : { Ephemeral: ephemeral(group.ephemeralDuration) }),
    ...(group.joinApprovalMode === undefined ? {} : { MembershipApprovalMode: { IsJoinApprovalRequired: group.joinApprovalMode } }),
    ...(group.inviteCode === undefined ? {} : { NewInviteLink: `https://chat.whatsapp.com/${group.inviteCode}` }),
    ...(group.memberAddMode === undefined
      ? {}
      : { UnknownChanges: unknownChange('member_add_mode', group.memberAddMode ? 'all_member_add' : 'admin_add') }),
  };
};

/** The whole group, for somebody who has just come into it. */
const joined = (group: GroupMetadata, directory: Directory): object => {
  const author = [group.subjectOwner, group.subjectOwnerPn];
  const owner = addressesOf(directory, group.owner, group.ownerPn);
  const { desc, ...named } = group;
  return {
    ...settings(desc ? group : named, author, directory),
    OwnerJID: bare(group.owner) || null,
    OwnerPN: owner.pn,
    GroupCreated: group.creation === undefined ? null : iso(group.creation * 1000),
    Participants: group.participants.map((member) => {
      const { pn, lid } = addressesOf(directory, member.id, member.phoneNumber, member.lid);
      return {
        JID: bare(member.id),
        PhoneNumber: pn,
        LID: lid,
        IsAdmin: Boolean(member.admin),
        IsSuperAdmin: member.admin === 'superadmin',
      };
    }),
  };
};

/** The account was added to these, or made them. */
export const fromGroupUpserts = (groups: readonly GroupMetadata[], directory: Directory): Entry[] =>
  groups.flatMap((group): Entry[] => [
    { kind: 'chat', chat: groupPatch(group, directory), create: true },
    groupEvent(group.id, [group.author, group.authorPn], joined(group, directory), directory, 'JoinedGroup'),
  ]);

/** The timer of disappearing messages is told as a message; the chat keeps it by an event of its own. */
export const fromEphemeral = ({ key }: WAMessage, protocol: proto.Message.IProtocolMessage, directory: Directory): Entry[] => [
  groupEvent(
    bare(key.remoteJid),
    [key.participant, key.participantAlt],
    { Ephemeral: ephemeral(protocol.ephemeralExpiration ?? 0) },
    directory,
  ),
];

/** With participants it is the answer to a query, not a change: chats learn from it, nobody is told. */
export const fromGroupUpdates = (groups: readonly Partial<GroupMetadata>[], directory: Directory): Entry[] =>
  groups.flatMap((group): Entry[] => {
    const { id } = group;
    if (id === undefined) return [];
    const author = [group.author, group.authorPn];
    const chat: Entry = { kind: 'chat', chat: groupPatch({ ...group, id }, directory), create: false };
    return group.participants === undefined ? [chat, groupEvent(id, author, settings(group, author, directory), directory)] : [chat];
  });

const lists: Readonly<Record<Participants['action'], string | null>> = {
  add: 'Join',
  remove: 'Leave',
  promote: 'Promote',
  demote: 'Demote',
  // A member's new number: the people stay the same.
  modify: null,
};

/** What the change means for the account itself. */
const ownPart = (action: Participants['action']): Partial<ChatPatch> | null => {
  if (action === 'add' || action === 'remove')
    return { groupMember: action === 'add', ...(action === 'remove' ? { groupAdmin: false } : {}) };
  return action === 'modify' ? null : { groupAdmin: action === 'promote' };
};

export const fromParticipants = (update: Participants, directory: Directory): Entry[] => {
  const { id, participants, action } = update;
  const list = lists[action];
  if (list === null) return [];
  const people = participants.map((member) => addressesOf(directory, member.id, member.phoneNumber, member.lid));
  const lids = people.map(({ lid }) => lid).filter((lid) => lid !== '');
  const changes = {
    [list]: people.map(({ pn, lid }) => pn || lid),
    ...(list === 'Join' || list === 'Leave' ? { [`${list}Lid`]: lids } : {}),
  };
  const event = groupEvent(id, [update.author, update.authorPn], changes, directory);
  const own = people.some(({ pn, lid }) => isMe(directory, pn) || isMe(directory, lid)) ? ownPart(action) : null;
  return own === null ? [event] : [event, { kind: 'chat', chat: { chatId: id, ...own }, create: false }];
};
