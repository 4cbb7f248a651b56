/** The API representation of groups: a group, and the `groups` event, in which each unchanged field is null. */
import { Type } from 'typebox';
import {
  type Group,
  type GroupChange,
  type GroupEvent,
  type GroupMember,
  type GroupSettings,
  includesPerson,
  type LinkedGroup,
  type Person,
  type RawChange,
} from '#actors/model.ts';
import { fieldsOf, notKnown } from './fields.ts';
import { OneOf, optional } from './shapes.ts';
import { isoTime } from './formats.ts';

const text = Type.String();
const date = Type.String({ format: 'date-time' });
const flag = Type.Boolean();

/** The `subject` of a group, and the person who set it. */
const subject = fieldsOf<Pick<GroupSettings, 'subject'>>()({
  Name: [optional(text), (group) => group.subject?.text],
  NameSetAt: [optional(date), (group) => group.subject && isoTime(group.subject.at)],
  NameSetBy: [optional(text), (group) => group.subject && (group.subject.by.lid || group.subject.by.pn)],
  NameSetByPN: [optional(text), (group) => group.subject?.by.pn],
});

const topic = fieldsOf<Pick<GroupSettings, 'topic'>>()({
  Topic: [optional(text), (group) => group.topic?.text ?? ''],
  TopicID: [optional(text), (group) => group.topic?.id || undefined],
  TopicDeleted: [optional(flag), (group) => group.topic?.text === ''],
  TopicSetAt: [optional(date), (group) => (group.topic ? isoTime(group.topic.at) : undefined)],
  TopicSetBy: [optional(text), (group) => (group.topic ? group.topic.by.lid || group.topic.by.pn : undefined)],
  TopicSetByPN: [optional(text), (group) => group.topic?.by.pn],
});

const ephemeral = fieldsOf<Pick<GroupSettings, 'ephemeral'>>()({
  IsEphemeral: [optional(flag), (group) => (group.ephemeral ?? 0) > 0],
  DisappearingTimer: [optional(Type.Integer({ minimum: 0, description: 'Seconds; 0: messages stay' })), (group) => group.ephemeral ?? 0],
});

export const addModes = { all: 'all_member_add', admins: 'admin_add' } as const;

export const inviteLink = (code: string): string => `https://chat.whatsapp.com/${code}`;

export const addRequest = Type.Object(
  { Code: Type.String(), Expiration: date },
  { description: 'What POST /send/group-invite needs to invite somebody who could not be added' },
);

const member = fieldsOf<GroupMember>()({
  JID: [text, ({ id }) => id],
  PhoneNumber: [text, ({ pn }) => pn],
  LID: [text, ({ lid }) => lid],
  IsAdmin: [flag, ({ isAdmin }) => isAdmin],
  IsSuperAdmin: [flag, ({ isSuperAdmin }) => isSuperAdmin],
  DisplayName: [optional(text), notKnown],
  Error: [optional(Type.Integer()), notKnown],
  AddRequest: [optional(addRequest), notKnown],
});

/** A group with the facts that only some answers show. */
interface ShownGroup extends Group {
  /** The rights of the account; null if they are not known. */
  readonly own: { readonly isAdmin: boolean; readonly mayWrite: boolean } | null;
  /** If false, the members are left out. */
  readonly withMembers: boolean;
  /** The people who asked to join; null if they were not queried. */
  readonly requests: readonly Person[] | null;
}

/** The fields of a group. All are optional, because an answer leaves out the fields that the platform did not report. */
const shown = fieldsOf<ShownGroup>()({
  JID: [optional(text), (group) => group.id],
  OwnerJID: [optional(text), (group) => group.owner.id],
  OwnerPN: [optional(text), (group) => group.owner.pn],
  GroupCreated: [optional(date), ({ createdAt }) => (createdAt === null ? undefined : isoTime(createdAt))],
  AddressingMode: [optional(OneOf(['pn', 'lid'])), (group) => group.addressing ?? 'pn'],
  AnnounceVersionID: [optional(text), (group) => group.announceVersion ?? ''],
  ParticipantVersionID: [optional(text), (group) => group.participantVersion ?? ''],
  CreatorCountryCode: [optional(text), (group) => group.creatorCountry ?? ''],
  IsIncognito: [optional(flag), (group) => group.isIncognito ?? false],
  IsParent: [optional(flag), (group) => group.isCommunity ?? false],
  LinkedParentJID: [optional(text), (group) => group.parent ?? ''],
  IsDefaultSubGroup: [optional(flag), (group) => group.isDefaultSubgroup ?? false],
  IsSuspended: [optional(flag), (group) => group.suspended ?? false],
  DefaultMembershipApprovalMode: [optional(text), notKnown],
  DefaultSubGroupId: [optional(text), notKnown],
  ...subject.rows,
  ...topic.rows,
  IsLocked: [optional(flag), (group) => group.locked ?? false],
  IsAnnounce: [optional(flag), (group) => group.announce ?? false],
  ...ephemeral.rows,
  IsJoinApprovalRequired: [optional(flag), (group) => group.joinApproval ?? false],
  MemberAddMode: [optional(OneOf(Object.values(addModes))), (group) => addModes[group.whoAddsMembers ?? 'all']],
  OwnerIsAdmin: [optional(flag), ({ own }) => own?.isAdmin],
  OwnerCanSendMessage: [optional(flag), ({ own }) => own?.mayWrite],
  ParticipantCount: [optional(Type.Integer()), ({ members, withMembers }) => (withMembers ? members.length : undefined)],
  Participants: [
    optional(Type.Array(Type.Object(member.schemas))),
    ({ members, withMembers }) => (withMembers ? members.map(member.view) : undefined),
  ],
  invite_link: [optional(text), ({ inviteCode }) => (inviteCode === undefined ? undefined : inviteLink(inviteCode))],
  request_participants: [
    optional(Type.String({ description: 'People who asked to join: ids with commas between them' })),
    ({ requests }) => requests?.map(({ id, pn }) => pn || id).join(','),
  ],
});

export const groupFields = shown.schemas;

const rightsOf = ({ members, announce }: Group, me: Person | null): ShownGroup['own'] => {
  if (me === null || members.length === 0) return null;
  const own = members.find((one) => includesPerson([one], me));
  return { isAdmin: own?.isAdmin ?? false, mayWrite: own !== undefined && (own.isAdmin || announce !== true) };
};

/** The facts and choices on which the view of a group depends. */
interface GroupAspects {
  /** The account, if it is known. */
  readonly me?: Person | null;
  /** If false, the view has no members. */
  readonly members?: boolean;
  /** The people who asked to join. */
  readonly requests?: readonly Person[] | null;
}

/** Makes the view of a whole group. In the interface, `owner` means the account of the instance, and not the owner of the group. */
export const groupView = (group: Group, { me = null, members = true, requests = null }: GroupAspects = {}) =>
  shown.view({ ...group, own: rightsOf(group, me), withMembers: members, requests });

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

/**
 * Makes the settings in an event. Each setting has its own field. The interface has no field for the right to add members, so `UnknownChanges` contains this
 * right in the platform's form.
 */
const settingsView = (settings: GroupSettings) => ({
  ...(settings.subject === undefined ? {} : { Name: subject.view(settings) }),
  ...(settings.topic ? { Topic: topic.view(settings) } : {}),
  ...(settings.locked === undefined ? {} : { Locked: { IsLocked: settings.locked } }),
  ...(settings.announce === undefined ? {} : { Announce: { IsAnnounce: settings.announce } }),
  ...(settings.ephemeral === undefined ? {} : { Ephemeral: ephemeral.view(settings) }),
  ...(settings.joinApproval === undefined ? {} : { MembershipApprovalMode: { IsJoinApprovalRequired: settings.joinApproval } }),
  ...(settings.inviteCode === undefined ? {} : { NewInviteLink: inviteLink(settings.inviteCode) }),
  ...(settings.suspended === undefined ? {} : settings.suspended ? { Suspended: true } : { Unsuspended: true }),
  ...(settings.whoAddsMembers === undefined
    ? {}
    : { UnknownChanges: [rawView({ tag: 'member_add_mode', attrs: {}, content: addModes[settings.whoAddsMembers] })] }),
});

const memberLists = { join: 'Join', leave: 'Leave', promote: 'Promote', demote: 'Demote' } as const;

const lidsOf = (people: readonly Person[]): readonly string[] => people.map(({ lid }) => lid).filter((lid) => lid !== '');

const membersView = ({ action, people, reason, versions }: Extract<GroupEvent, { kind: 'members' }>) => ({
  [memberLists[action]]: people.map(({ pn, lid }) => pn || lid),
  ...(action === 'join' || action === 'leave' ? { [`${memberLists[action]}Lid`]: lidsOf(people) } : {}),
  ...(reason === undefined ? {} : { JoinReason: reason }),
  ...(versions === undefined ? {} : { PrevParticipantVersionID: versions.before, ParticipantVersionID: versions.after }),
});

const linkView = (type: string, reason: string, [group]: readonly LinkedGroup[]) => ({
  Type: type,
  UnlinkReason: reason,
  Group: { JID: group?.id ?? '', Name: group?.subject ?? '' },
});

const changeView = (change: GroupEvent) => {
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

/** The fields of a `groups` event that report changes, in the order of the interface. */
const changeable = `Name Topic Locked Announce Ephemeral MembershipApprovalMode Delete Link Unlink NewInviteLink PrevParticipantVersionID
  ParticipantVersionID JoinReason Suspended Unsuspended UnknownChanges Join Leave Promote Demote JoinLid LeaveLid`;

const unchanged = Object.fromEntries(changeable.split(/\s+/).map((name) => [name, null]));

export const groupChangeView = ({ groupId, by, byName, at, change }: GroupChange) => ({
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

// Further answers about groups: people whom the platform refused, requests to join, and the timer of disappearing messages.

/** The reason why a person could not be added, with an invitation that can be sent instead. `expiresAt` is in Unix milliseconds. */
interface MemberRefusal {
  readonly error: number;
  readonly invitation: { readonly code: string; readonly expiresAt: number } | null;
}

/** Makes the view of a refusal. `Error` is 0 if the person was not refused. */
const refusalView = ({ error, invitation }: MemberRefusal) => ({
  Error: error,
  ...(invitation === null ? {} : { AddRequest: { Code: invitation.code, Expiration: isoTime(invitation.expiresAt) } }),
});

interface Outcome extends MemberRefusal {
  readonly person: Person;
}

/** The meaning of the platform's codes for a person who could not be added. */
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

/** Makes the view of the outcome for one person of a request. `Error` is 0 on success. */
export const memberOutcomeView = ({ person, ...refusal }: Outcome) => ({ ...personView(person), ...refusalView(refusal) });

export const failedView = (outcome: Outcome) => ({
  ...memberOutcomeView(outcome),
  Reason: reasons[outcome.error] ?? `the platform refused with ${outcome.error}`,
});

const timers = { off: 0, '1d': 86_400, '7d': 604_800, '90d': 7_776_000 } as const;

/** Returns the timer of disappearing messages that a client requests; null for an unknown duration. */
export const timerOf = (duration: string | number): { readonly label: string; readonly seconds: number } | null => {
  const written = String(duration).trim().toLowerCase();
  const found = Object.entries(timers).find(([label, seconds]) => label === written || String(seconds) === written);
  return found ? { label: found[0], seconds: found[1] } : null;
};

/** Returns the invite code from a link or from the code itself; '' for other texts. */
export const inviteCodeOf = (written: string): string =>
  /^(?:(?:https?:\/\/)?chat\.whatsapp\.com\/(?:invite\/)?)?([\w-]{10,50})\/?(?:[?#].*)?$/.exec(written.trim())?.[1] ?? '';
