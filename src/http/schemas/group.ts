/** Shapes of groups (contract: Group, GroupParticipant). */
import { Type } from 'typebox';
import { addRequest, groupFields } from '#src/contract/views.ts';
import { PictureSource } from './account.ts';
import { Chat } from './chat.ts';
import { Count, fields, Flag, LooseText, OneOf, optional, ref, Text } from './common.ts';

const groupExample = '120363153742561022@g.us';

export const Group = Type.Object(groupFields, {
  $id: 'Group',
  examples: [
    {
      JID: groupExample,
      OwnerJID: '5511988887777@s.whatsapp.net',
      OwnerPN: '5511988887777@s.whatsapp.net',
      Name: 'Team',
      NameSetAt: '2026-02-02T17:46:57.567Z',
      Topic: '',
      IsLocked: false,
      IsAnnounce: false,
      GroupCreated: '2026-02-02T17:46:57.567Z',
      ParticipantCount: 1,
      Participants: [
        {
          JID: '100000000000001@lid',
          PhoneNumber: '5511988887777@s.whatsapp.net',
          LID: '100000000000001@lid',
          IsAdmin: true,
          IsSuperAdmin: true,
        },
      ],
    },
  ],
});

const groupPattern = String.raw`^\d+(-\d+)?@g\.us$`;

export const GroupJid = Type.String({
  pattern: groupPattern,
  maxLength: 64,
  description: 'Id of the group',
  examples: [groupExample],
});
const InviteCode = Type.String({
  minLength: 10,
  maxLength: 100,
  description: 'The code of a link, or the whole link',
  examples: ['https://chat.whatsapp.com/IYnl5Zg9bUcJD32rJrDzO7'],
});
const People = Type.Array(LooseText(64, 'The digits of a number with its country code, or an id', 1), {
  description: 'Numbers or ids of people',
  examples: [['5511999999999']],
});

export const GroupBody = Type.Object({ groupjid: GroupJid });
export const GroupParams = Type.Object({ groupJID: GroupJid });
export const InviteBody = Type.Object({ invitecode: InviteCode });

export const CreateGroupBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: String.raw`\S`, description: 'The name of the group', examples: ['Team'] }),
  participants: Type.Unsafe<readonly (string | number)[]>({ ...People, minItems: 1, maxItems: 50 }),
});

const failedFields = { ...fields('JID PhoneNumber LID Reason', Type.String()), Error: Type.Integer(), AddRequest: optional(addRequest) };

export const CreateGroupAnswer = Type.Object({
  group: ref(Group),
  failed: Type.Array(Type.Object(failedFields), {
    description: 'People who could not be added, each with the platform’s code and what it means',
  }),
});

export const GroupInfoBody = Type.Object({
  groupjid: GroupJid,
  getInviteLink: optional(Flag('With the invite link; the platform gives it to admins only')),
  getRequestsParticipants: optional(Flag('With the people who asked to join; the platform names them to admins only')),
  force: optional(Flag('Ask the platform, even when the group is known')),
});

/** The default and the largest number of groups on one page. `all` is the largest number in an answer without pages. */
export const groupPage = { usual: 50, most: 1000, all: 20_000 };

export const ListGroupsBody = Type.Object({
  limit: optional(Count(-1_000_000, 100_000_000, `At most ${groupPage.most}; ${groupPage.usual} when not positive`)),
  offset: optional(Count(0, 100_000_000, 'Groups to leave out')),
  search: optional(Text(200, 'Part of the name, or the id')),
  force: optional(Flag('Ask the platform first; honoured once in 20 s')),
  noParticipants: optional(Flag('Leave out the members')),
});

export const ListGroupsQuery = Type.Object({
  force: optional(Flag('Ask the platform first; honoured once in 20 s')),
  noparticipants: optional(Flag('Leave out the members')),
});

export const GroupsAnswer = Type.Object({
  groups: Type.Array(ref(Group)),
  pagination: Type.Object({
    ...fields('totalRecords limit offset nextOffset', Type.Integer()),
    hasMore: Type.Boolean({ description: 'Go on at nextOffset; a page may end before its limit when it is large' }),
  }),
});

const changedFields = {
  group: optional(ref(Group)),
  needs_refresh: Type.Boolean({ description: 'The group is not known here; ask for it with POST /group/info' }),
};

export const ChangedGroup = Type.Object({ response: Type.String(), ...changedFields });
export const LinkAnswer = Type.Object({
  InviteLink: Type.String({ examples: ['https://chat.whatsapp.com/IYnl5Zg9bUcJD32rJrDzO7'] }),
  ...changedFields,
});

export const EphemeralBody = Type.Object({
  groupjid: GroupJid,
  duration: Type.Unsafe<string | number>({
    type: ['string', 'integer'],
    maxLength: 16,
    description: 'off, 1d, 7d or 90d; or seconds',
    examples: ['1d'],
  }),
});

export const EphemeralAnswer = Type.Object({
  response: Type.String(),
  chat: optional(ref(Chat)),
  ephemeral: Type.Object({ enabled: Type.Boolean(), seconds: Type.Integer(), label: Type.String() }),
  ...changedFields,
});

export const MembersBody = Type.Object({
  groupjid: GroupJid,
  action: OneOf(['add', 'remove', 'promote', 'demote', 'approve', 'reject'], {
    description: 'Change for these people; approve and reject answer requests to join',
  }),
  participants: Type.Unsafe<readonly (string | number)[]>({ ...People, minItems: 1, maxItems: 256 }),
});

export const MembersAnswer = Type.Object({
  groupUpdated: Type.Array(
    Type.Object({
      ...fields('JID PhoneNumber LID', Type.String()),
      Error: Type.Integer({
        description:
          'The platform’s code; 0: done, 403: privacy, 404: no account, 408: left lately, 409: a member already, 421: waits for approval',
      }),
      AddRequest: optional(addRequest),
    }),
  ),
  ...changedFields,
});

export const PictureBody = Type.Object({
  groupjid: GroupJid,
  image: PictureSource,
});

// Shapes of communities.

export const CreateCommunityBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: String.raw`\S`,
    description: 'The name of the community',
    examples: ['Neighbours'],
  }),
});

export const CreateCommunityAnswer = Type.Object({
  group: ref(Group),
  failed: Type.Array(Type.String(), { description: 'People who could not be added; empty, since nobody is' }),
});

export const EditGroupsBody = Type.Object({
  community: Type.String({
    pattern: groupPattern,
    maxLength: 64,
    description: 'Id of the community',
    examples: [groupExample],
  }),
  action: OneOf(['add', 'remove'], { description: 'Change for these groups', examples: ['add'] }),
  groupjids: Type.Array(GroupJid, { minItems: 1, maxItems: 100, description: 'Ids of groups' }),
});

export const EditGroupsAnswer = Type.Object({
  message: Type.String(),
  success: Type.Array(Type.String(), { description: 'Groups that were added or removed' }),
  failed: Type.Array(Type.String(), { description: 'Groups that the platform refused' }),
});
