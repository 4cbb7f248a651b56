/** Groups as the interface spells them: a group, and the `groups` event, in which everything that did not change is null. */
import {
  type Group,
  type GroupChange,
  type GroupEvent,
  type GroupFacts,
  type GroupMember,
  type GroupSettings,
  includesPerson,
  type LinkedGroup,
  type Person,
  type RawChange,
  type SetBy,
} from '#actors/model.ts';
import { isoTime } from './formats.ts';

type View = Readonly<Record<string, unknown>>;

const setByView = <const Name extends string>(name: Name, { by, at }: SetBy) => ({
  [`${name}SetAt`]: isoTime(at),
  [`${name}SetBy`]: by.lid || by.pn,
  [`${name}SetByPN`]: by.pn,
});

const subjectView = (subject: NonNullable<GroupSettings['subject']>): View => ({ Name: subject.text, ...setByView('Name', subject) });

const topicView = (topic: NonNullable<GroupSettings['topic']>): View => ({
  Topic: topic.text,
  ...(topic.id ? { TopicID: topic.id } : {}),
  TopicDeleted: topic.text === '',
  ...setByView('Topic', topic),
});

const ephemeralView = (seconds: number): View => ({ IsEphemeral: seconds > 0, DisappearingTimer: seconds });

export const addModes = { all: 'all_member_add', admins: 'admin_add' } as const;

export const inviteLink = (code: string): string => `https://chat.whatsapp.com/${code}`;

/** The reason why a person could not be added, and the invitation that can be sent instead. `expiresAt`: Unix milliseconds. */
export interface MemberRefusal {
  readonly error: number;
  readonly invitation: { readonly code: string; readonly expiresAt: number } | null;
}

/** `Error` is 0 when there is none. */
export const refusalView = ({ error, invitation }: MemberRefusal) => ({
  Error: error,
  ...(invitation === null ? {} : { AddRequest: { Code: invitation.code, Expiration: isoTime(invitation.expiresAt) } }),
});

export const memberView = ({ id, pn, lid, isAdmin, isSuperAdmin }: GroupMember): View => ({
  JID: id,
  PhoneNumber: pn,
  LID: lid,
  IsAdmin: isAdmin,
  IsSuperAdmin: isSuperAdmin,
});

/** The fields of a group beside its settings and its members. */
const identityView = ({ owner, createdAt, ...facts }: GroupFacts): View => ({
  OwnerJID: owner.id,
  OwnerPN: owner.pn,
  ...(createdAt === null ? {} : { GroupCreated: isoTime(createdAt) }),
  AddressingMode: facts.addressing ?? 'pn',
  AnnounceVersionID: facts.announceVersion ?? '',
  ParticipantVersionID: facts.participantVersion ?? '',
  CreatorCountryCode: facts.creatorCountry ?? '',
  IsIncognito: facts.isIncognito ?? false,
  IsParent: facts.isCommunity ?? false,
  LinkedParentJID: facts.parent ?? '',
  IsDefaultSubGroup: facts.isDefaultSubgroup ?? false,
  IsSuspended: facts.suspended ?? false,
});

/** The rights of the account in the group. The interface calls the owner of the instance the owner. */
const ownView = ({ members, announce }: Group, me: Person | null): View => {
  if (me === null || members.length === 0) return {};
  const own = members.find((member) => includesPerson([member], me));
  return { OwnerIsAdmin: own?.isAdmin ?? false, OwnerCanSendMessage: own !== undefined && (own.isAdmin || announce !== true) };
};

/** A whole group. `me`: the account, where it is known. `members` are left out, not empty, when they were not asked for. */
export const groupView = (
  group: Group,
  { me = null, members = true }: { readonly me?: Person | null; readonly members?: boolean } = {},
): View => ({
  JID: group.id,
  ...identityView(group),
  ...(group.subject === undefined ? {} : subjectView(group.subject)),
  ...(group.topic ? topicView(group.topic) : { Topic: '', TopicDeleted: false }),
  IsLocked: group.locked ?? false,
  IsAnnounce: group.announce ?? false,
  ...ephemeralView(group.ephemeral ?? 0),
  IsJoinApprovalRequired: group.joinApproval ?? false,
  MemberAddMode: addModes[group.whoAddsMembers ?? 'all'],
  ...ownView(group, me),
  ...(members ? { ParticipantCount: group.members.length, Participants: group.members.map(memberView) } : {}),
  ...(group.inviteCode === undefined ? {} : { invite_link: inviteLink(group.inviteCode) }),
});

interface RawView {
  readonly Tag: string;
  readonly Attrs: Readonly<Record<string, string>>;
  readonly Content: string | readonly RawView[] | null;
}

const rawView = ({ tag, attrs, content }: RawChange): RawView => ({
  Tag: tag,
  Attrs: attrs,
  Content: content === null || typeof content === 'string' ? content : content.map(rawView),
});

/** The settings in an event: each has an object of its own. The interface has no word for the right to add members, so the platform's word is used. */
const settingsView = (settings: GroupSettings): View => ({
  ...(settings.subject === undefined ? {} : { Name: subjectView(settings.subject) }),
  ...(settings.topic ? { Topic: topicView(settings.topic) } : {}),
  ...(settings.locked === undefined ? {} : { Locked: { IsLocked: settings.locked } }),
  ...(settings.announce === undefined ? {} : { Announce: { IsAnnounce: settings.announce } }),
  ...(settings.ephemeral === undefined ? {} : { Ephemeral: ephemeralView(settings.ephemeral) }),
  ...(settings.joinApproval === undefined ? {} : { MembershipApprovalMode: { IsJoinApprovalRequired: settings.joinApproval } }),
  ...(settings.inviteCode === undefined ? {} : { NewInviteLink: inviteLink(settings.inviteCode) }),
  ...(settings.suspended === undefined ? {} : { [settings.suspended ? 'Suspended' : 'Unsuspended']: true }),
  ...(settings.whoAddsMembers === undefined
    ? {}
    : { UnknownChanges: [rawView({ tag: 'member_add_mode', attrs: {}, content: addModes[settings.whoAddsMembers] })] }),
});

const memberLists = { join: 'Join', leave: 'Leave', promote: 'Promote', demote: 'Demote' } as const;

const lidsOf = (people: readonly Person[]): readonly string[] => people.map(({ lid }) => lid).filter((lid) => lid !== '');

const membersView = ({ action, people, reason, versions }: Extract<GroupEvent, { kind: 'members' }>): View => ({
  [memberLists[action]]: people.map(({ pn, lid }) => pn || lid),
  ...(action === 'join' || action === 'leave' ? { [`${memberLists[action]}Lid`]: lidsOf(people) } : {}),
  ...(reason === undefined ? {} : { JoinReason: reason }),
  ...(versions === undefined ? {} : { PrevParticipantVersionID: versions.before, ParticipantVersionID: versions.after }),
});

const linkView = (type: string, reason: string, [group]: readonly LinkedGroup[]): View => ({
  Type: type,
  UnlinkReason: reason,
  Group: { JID: group?.id ?? '', Name: group?.subject ?? '' },
});

const changeView = (change: GroupEvent): View => {
  switch (change.kind) {
    case 'settings':
      return settingsView(change.settings);
    case 'members':
      return membersView(change);
    case 'entered':
      return { ...groupView(change.group), Reason: change.reason ?? '', Type: 'new', JoinReason: change.reason ?? null };
    case 'deleted':
      return { Delete: { Deleted: true, DeleteReason: change.reason } };
    case 'linked':
      return { Link: linkView(change.type, '', change.groups) };
    case 'unlinked':
      return { Unlink: linkView(change.type, change.reason, change.groups) };
    case 'renamed':
      return {};
    case 'other':
      return { UnknownChanges: [rawView(change.raw)] };
  }
};

/** In the order of the contract. */
const changeable = `Name Topic Locked Announce Ephemeral MembershipApprovalMode Delete Link Unlink NewInviteLink PrevParticipantVersionID
  ParticipantVersionID JoinReason Suspended Unsuspended UnknownChanges Join Leave Promote Demote JoinLid LeaveLid`;

const unchanged: View = Object.fromEntries(changeable.split(/\s+/).map((name) => [name, null]));

export const groupChangeView = ({ groupId, by, byName, at, change }: GroupChange): View => ({
  type: change.kind === 'entered' ? 'JoinedGroup' : 'Group',
  event: {
    JID: groupId,
    Notify: byName || null,
    Sender: by.id || null,
    SenderPN: by.pn || null,
    Timestamp: isoTime(at),
    ...unchanged,
    ...changeView(change),
    sender_pn: by.pn,
    sender_lid: by.lid,
  },
});

// Answers about groups beside the group itself: people whom the platform refused, who asked to join, the timer of messages.

interface Outcome extends MemberRefusal {
  readonly person: Person;
}

/** The meaning of the platform's codes for a person who was to be added. */
const reasons: Readonly<Record<number, string>> = {
  400: 'the platform cannot read the request',
  401: 'the person has blocked the account',
  402: 'the account of the person is banned',
  403: 'the privacy settings of the person allow it only by an invitation',
  404: 'there is no account for this number',
  406: 'the platform does not allow it',
  408: 'the person left the group lately and has to be invited',
  409: 'the person is a member already',
  417: 'the platform does not allow it',
  419: 'the group is full',
  421: 'an admin has to approve first',
  500: 'the platform failed',
};

const personView = ({ id, pn, lid }: Person) => ({ JID: id || pn || lid, PhoneNumber: pn, LID: lid });

/** The outcome for each person of a request. `Error` is 0 on success. */
export const memberOutcomeView = ({ person, ...refusal }: Outcome) => ({ ...personView(person), ...refusalView(refusal) });

export const failedView = (outcome: Outcome) => ({
  ...memberOutcomeView(outcome),
  Reason: reasons[outcome.error] ?? `the platform refused with ${outcome.error}`,
});

/** A group with those who asked to join, as one text. */
export const groupInfoView = (group: Group, requests: readonly Person[] | null, me: Person | null) => ({
  ...groupView(group, { me }),
  ...(requests === null ? {} : { request_participants: requests.map(({ id, pn }) => pn || id).join(',') }),
});

const timers = { off: 0, '1d': 86_400, '7d': 604_800, '90d': 7_776_000 } as const;

/** The timer of disappearing messages that a client asks for; null when there is none such. */
export const timerOf = (duration: string | number): { readonly label: string; readonly seconds: number } | null => {
  const written = String(duration).trim().toLowerCase();
  const found = Object.entries(timers).find(([label, seconds]) => label === written || String(seconds) === written);
  return found ? { label: found[0], seconds: found[1] } : null;
};

/** The code of a link, out of the link or by itself; '' when it is none. */
export const inviteCodeOf = (written: string): string =>
  /^(?:(?:https?:\/\/)?chat\.whatsapp\.com\/(?:invite\/)?)?([\w-]{10,50})\/?(?:[?#].*)?$/.exec(written.trim())?.[1] ?? '';
