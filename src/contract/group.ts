/** Groups as the interface spells them: a group, and the `groups` event, in which everything that did not change is null. */
import type { Group, GroupChange, GroupMember, GroupSettings, Person, SetBy } from '#actors/model.ts';

type View = Readonly<Record<string, unknown>>;

const iso = (ms: number): string => new Date(ms).toISOString();

const setByView = <const Name extends string>(name: Name, { by, at }: SetBy) => ({
  [`${name}SetAt`]: iso(at),
  [`${name}SetBy`]: by.lid || by.pn,
  [`${name}SetByPN`]: by.pn,
});

const subjectView = (subject: NonNullable<GroupSettings['subject']>): View => ({ Name: subject.text, ...setByView('Name', subject) });

const topicView = (topic: NonNullable<GroupSettings['topic']>): View => ({
  Topic: topic.text,
  TopicDeleted: topic.text === '',
  ...setByView('Topic', topic),
});

const ephemeralView = (seconds: number): View => ({ IsEphemeral: seconds > 0, DisappearingTimer: seconds });

const addModes = { all: 'all_member_add', admins: 'admin_add' } as const;

const inviteLink = (code: string): string => `https://chat.whatsapp.com/${code}`;

export const memberView = ({ id, pn, lid, isAdmin, isSuperAdmin }: GroupMember): View => ({
  JID: id,
  PhoneNumber: pn,
  LID: lid,
  IsAdmin: isAdmin,
  IsSuperAdmin: isSuperAdmin,
});

/** What a group has beside its settings. */
const identityView = ({ owner, createdAt, members }: Group): View => ({
  OwnerJID: owner.id || null,
  OwnerPN: owner.pn,
  GroupCreated: createdAt === null ? null : iso(createdAt),
  Participants: members.map(memberView),
});

/** A whole group: every setting stands beside the others. */
export const groupView = (group: Group): View => ({
  JID: group.id,
  ...identityView(group),
  ...(group.subject === undefined ? {} : subjectView(group.subject)),
  ...(group.topic === undefined ? {} : topicView(group.topic)),
  ...(group.locked === undefined ? {} : { IsLocked: group.locked }),
  ...(group.announce === undefined ? {} : { IsAnnounce: group.announce }),
  ...(group.ephemeral === undefined ? {} : ephemeralView(group.ephemeral)),
  ...(group.joinApproval === undefined ? {} : { IsJoinApprovalRequired: group.joinApproval }),
  ...(group.whoAddsMembers === undefined ? {} : { MemberAddMode: addModes[group.whoAddsMembers] }),
  ...(group.inviteCode === undefined ? {} : { invite_link: inviteLink(group.inviteCode) }),
});

/** What an event tells of settings: each has an object of its own. The interface has no word for who may add members, so the platform's stands there. */
const settingsView = (settings: GroupSettings): View => ({
  ...(settings.subject === undefined ? {} : { Name: subjectView(settings.subject) }),
  ...(settings.topic === undefined ? {} : { Topic: topicView(settings.topic) }),
  ...(settings.locked === undefined ? {} : { Locked: { IsLocked: settings.locked } }),
  ...(settings.announce === undefined ? {} : { Announce: { IsAnnounce: settings.announce } }),
  ...(settings.ephemeral === undefined ? {} : { Ephemeral: ephemeralView(settings.ephemeral) }),
  ...(settings.joinApproval === undefined ? {} : { MembershipApprovalMode: { IsJoinApprovalRequired: settings.joinApproval } }),
  ...(settings.inviteCode === undefined ? {} : { NewInviteLink: inviteLink(settings.inviteCode) }),
  ...(settings.whoAddsMembers === undefined
    ? {}
    : { UnknownChanges: [{ Tag: 'member_add_mode', Attrs: {}, Content: addModes[settings.whoAddsMembers] }] }),
});

const memberLists = { join: 'Join', leave: 'Leave', promote: 'Promote', demote: 'Demote' } as const;

const lidsOf = (people: readonly Person[]): readonly string[] => people.map(({ lid }) => lid).filter((lid) => lid !== '');

const changeView = ({ change }: GroupChange): View => {
  if (change.kind === 'settings') return settingsView(change.settings);
  if (change.kind === 'entered') return { ...settingsView(change.group), ...identityView(change.group) };
  const { action, people } = change;
  const list = memberLists[action];
  return {
    [list]: people.map(({ pn, lid }) => pn || lid),
    ...(action === 'join' || action === 'leave' ? { [`${list}Lid`]: lidsOf(people) } : {}),
  };
};

/** In the order of the contract. */
const changeable = `Name Topic Locked Announce Ephemeral MembershipApprovalMode Delete Link Unlink NewInviteLink PrevParticipantVersionID
  ParticipantVersionID JoinReason Suspended Unsuspended UnknownChanges Join Leave Promote Demote JoinLid LeaveLid`;

const unchanged: View = Object.fromEntries(changeable.split(/\s+/).map((name) => [name, null]));

export const groupChangeView = (change: GroupChange): View => ({
  type: change.change.kind === 'entered' ? 'JoinedGroup' : 'Group',
  event: {
    JID: change.groupId,
    // The library keeps the name of who did it to itself.
    Notify: null,
    Sender: change.by.id || null,
    SenderPN: change.by.pn || null,
    Timestamp: iso(change.at),
    ...unchanged,
    ...changeView(change),
    sender_pn: change.by.pn,
    sender_lid: change.by.lid,
  },
});
