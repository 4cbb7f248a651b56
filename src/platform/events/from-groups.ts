/** Groups: what a chat keeps of one, and which events follow from a change. */
import type { BaileysEventMap, GroupMetadata, proto, WAMessage } from '@whiskeysockets/baileys';
import type { ChatPatch, Entry, Group, GroupChange, GroupSettings, Person } from '#actors/model.ts';
import { type Directory, isMe, personOf } from '../directory.ts';
import { bare } from '../jid.ts';

type Participants = BaileysEventMap['group-participants.update'];

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

type Change = GroupChange['change'];

const news = (groupId: string, by: Person, change: Change, directory: Directory): Entry => ({
  kind: 'news',
  lane: groupId,
  news: { type: 'groups', group: { groupId, by, at: directory.now(), change } },
});

/** Times, in seconds, come with whole groups only; a change has the time of its event. */
const settingsOf = (group: Partial<GroupMetadata>, by: Person, directory: Directory): GroupSettings => {
  const set = (text: string, seconds: number | undefined) => ({ text, by, at: seconds === undefined ? directory.now() : seconds * 1000 });
  return {
    ...(group.subject === undefined ? {} : { subject: set(group.subject, group.subjectTime) }),
    // A description that was removed comes as one without a value.
    ...(Object.hasOwn(group, 'desc') ? { topic: set(group.desc ?? '', group.descTime) } : {}),
    ...(group.restrict === undefined ? {} : { locked: group.restrict }),
    ...(group.announce === undefined ? {} : { announce: group.announce }),
    ...(group.ephemeralDuration === undefined ? {} : { ephemeral: group.ephemeralDuration }),
    ...(group.joinApprovalMode === undefined ? {} : { joinApproval: group.joinApprovalMode }),
    ...(group.inviteCode === undefined ? {} : { inviteCode: group.inviteCode }),
    ...(group.memberAddMode === undefined ? {} : { whoAddsMembers: group.memberAddMode ? 'all' : 'admins' }),
  };
};

/** A whole group. Its subject and topic are said to be set by who set the subject: the platform tells nobody else. */
export const groupOf = (group: GroupMetadata, directory: Directory): Group => {
  const { desc, ...named } = group;
  return {
    id: group.id,
    ...settingsOf(desc ? group : named, personOf(directory, group.subjectOwner, group.subjectOwnerPn), directory),
    owner: personOf(directory, group.owner, group.ownerPn),
    createdAt: group.creation === undefined ? null : group.creation * 1000,
    members: group.participants.map((member) => ({
      ...personOf(directory, member.id, member.phoneNumber, member.lid),
      isAdmin: Boolean(member.admin),
      isSuperAdmin: member.admin === 'superadmin',
    })),
  };
};

/** The account was added to these, or made them. */
export const fromGroupUpserts = (groups: readonly GroupMetadata[], directory: Directory): Entry[] =>
  groups.flatMap((group): Entry[] => [
    { kind: 'chat', chat: groupPatch(group, directory), create: true },
    news(group.id, personOf(directory, group.author, group.authorPn), { kind: 'entered', group: groupOf(group, directory) }, directory),
  ]);

/** The timer of disappearing messages arrives as a message; the chat keeps it by an event of its own. */
export const fromEphemeral = ({ key }: WAMessage, protocol: proto.Message.IProtocolMessage, directory: Directory): Entry[] => {
  const by = personOf(directory, key.participant, key.participantAlt);
  const settings = { ephemeral: protocol.ephemeralExpiration ?? 0 };
  return [news(bare(key.remoteJid), by, { kind: 'settings', settings }, directory)];
};

/** With participants it is the answer to a query, not a change: chats learn from it, and there is no event. */
export const fromGroupUpdates = (groups: readonly Partial<GroupMetadata>[], directory: Directory): Entry[] =>
  groups.flatMap((group): Entry[] => {
    const { id } = group;
    if (id === undefined) return [];
    const chat: Entry = { kind: 'chat', chat: groupPatch({ ...group, id }, directory), create: false };
    if (group.participants !== undefined) return [chat];
    const by = personOf(directory, group.author, group.authorPn);
    return [chat, news(id, by, { kind: 'settings', settings: settingsOf(group, by, directory) }, directory)];
  });

const memberActions = {
  add: 'join',
  remove: 'leave',
  promote: 'promote',
  demote: 'demote',
  // A member's new number: the people stay the same.
  modify: null,
} as const satisfies Readonly<Record<Participants['action'], string | null>>;

/** What the change means for the account itself. */
const ownPart = (action: Participants['action']): Partial<ChatPatch> | null => {
  if (action === 'add' || action === 'remove')
    return { groupMember: action === 'add', ...(action === 'remove' ? { groupAdmin: false } : {}) };
  return action === 'modify' ? null : { groupAdmin: action === 'promote' };
};

export const fromParticipants = (update: Participants, directory: Directory): Entry[] => {
  const { id, participants, action } = update;
  const done = memberActions[action];
  if (done === null) return [];
  const people = participants.map((member) => personOf(directory, member.id, member.phoneNumber, member.lid));
  const by = personOf(directory, update.author, update.authorPn);
  const event = news(id, by, { kind: 'members', action: done, people }, directory);
  const own = people.some(({ pn, lid }) => isMe(directory, pn) || isMe(directory, lid)) ? ownPart(action) : null;
  return own === null ? [event] : [event, { kind: 'chat', chat: { chatId: id, ...own }, create: false }];
};
