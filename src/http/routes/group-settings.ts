/** Settings of groups, with one row for each setting. All rows make the same request with another field. */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import type { GroupWish } from '#actors/gateway.ts';
import { addModes, chatView, timerOf } from '#src/contract/views.ts';
import type { InvalidTexts } from '../body.ts';
import { type Address, done, mapResult, performs, platformRefusals, refuse, type Route, route } from '../route.ts';
import { Flag, OneOf } from '../schemas/common.ts';
import {
  ChangedGroup,
  CreateCommunityAnswer,
  CreateCommunityBody,
  EditGroupsAnswer,
  EditGroupsBody,
  EphemeralAnswer,
  EphemeralBody,
  GroupJid,
  PictureBody,
} from '../schemas/group.ts';
import { pictureBodyLimit, pictureRefusals, pictureSource } from './account.ts';
import { adminRefusals, changedView, groupViewFor, noGroup, tag } from './group.ts';

type Given<Fields extends TProperties> = Static<TObject<Fields>> & { readonly groupjid: string };

interface SettingRow<Fields extends TProperties> {
  readonly on: Address;
  readonly operationId: string;
  readonly summary: string;
  readonly fields: Fields;
  readonly invalidTexts?: InvalidTexts;
  readonly failure?: string;
  /** The sentence for invalid input. */
  readonly invalid?: string;
  wish(body: Given<Fields>): GroupWish;
  response(body: Given<Fields>): string;
}

const setting = <Fields extends TProperties>({
  on,
  fields,
  invalidTexts,
  failure,
  invalid,
  wish,
  response,
  ...row
}: SettingRow<Fields>): Route =>
  performs({
    ...row,
    on: [on],
    tag,
    body: Type.Object({ groupjid: GroupJid, ...fields }),
    answer: ChangedGroup,
    invalidTexts: { ...noGroup, ...invalidTexts },
    refusals: { ...adminRefusals, ...(invalid === undefined ? {} : { invalid: { example: invalid } }) },
    ...(failure === undefined ? {} : { failure: { text: failure } }),
    operation: 'group.change',
    input({ body }) {
      const given = body as Given<Fields>;
      return { groupId: given.groupjid, wish: wish(given) };
    },
    shown: (group, call) => ({ response: response(call.body as Given<Fields>), ...changedView(group, call) }),
  });

const badTimer = 'invalid duration. Allowed values: 0, off, 1d, 7d, 90d';
const onOff = (on: boolean): string => (on ? 'enabled' : 'disabled');

export const groupSettingRoutes: readonly Route[] = [
  setting({
    on: 'POST /group/updateName',
    operationId: 'renameGroup',
    summary: 'Rename a group',
    fields: {
      name: Type.String({ minLength: 1, maxLength: 100, pattern: String.raw`\S`, description: 'The new name', examples: ['Team'] }),
    },
    invalidTexts: {
      'name:minLength': 'Name cannot be empty',
      'name:pattern': 'Name cannot be empty',
      groupjid: 'Invalid payload',
      '*': 'Invalid payload',
    },
    invalid: 'Invalid payload',
    failure: 'Failed to update group name',
    wish: ({ name }) => ({ of: 'name', text: name.trim() }),
    response: () => 'Group name updated successfully',
  }),
  setting({
    on: 'POST /group/updateDescription',
    operationId: 'describeGroup',
    summary: 'Replace the description of a group',
    fields: {
      description: Type.String({
        minLength: 1,
        maxLength: 2048,
        pattern: String.raw`\S`,
        description: 'The new description',
        examples: ['Everything about the team'],
      }),
    },
    invalidTexts: { 'description:minLength': 'Description cannot be empty', 'description:pattern': 'Description cannot be empty' },
    wish: ({ description }) => ({ of: 'description', text: description }),
    response: () => 'Group description updated successfully',
  }),
  setting({
    on: 'POST /group/updateAnnounce',
    operationId: 'setGroupAnnounce',
    summary: 'Let only admins write in a group, or everybody',
    fields: { announce: Flag('True: only admins write') },
    wish: ({ announce }) => ({ of: 'announce', on: announce }),
    response: ({ announce }) => `Group announce ${onOff(announce)} successfully`,
  }),
  setting({
    on: 'POST /group/updateLocked',
    operationId: 'setGroupLocked',
    summary: 'Let only admins change the settings of a group, or everybody',
    fields: { locked: Flag('True: only admins change the settings') },
    wish: ({ locked }) => ({ of: 'locked', on: locked }),
    response: () => 'Group lock status changed successfully',
  }),
  setting({
    on: 'POST /group/updateJoinApproval',
    operationId: 'setGroupApproval',
    summary: 'Let admins approve who joins a group, or not',
    fields: { IsJoinApprovalRequired: Flag('True: admins approve who joins') },
    invalidTexts: { 'IsJoinApprovalRequired:required': 'IsJoinApprovalRequired is required' },
    invalid: 'IsJoinApprovalRequired is required',
    wish: ({ IsJoinApprovalRequired }) => ({ of: 'joinApproval', on: IsJoinApprovalRequired }),
    response: ({ IsJoinApprovalRequired }) => `Group join approval ${onOff(IsJoinApprovalRequired)} successfully`,
  }),
  setting({
    on: 'POST /group/updateMemberAddMode',
    operationId: 'setGroupAddMode',
    summary: 'Let only admins add members to a group, or everybody',
    fields: { MemberAddMode: OneOf(Object.values(addModes), { description: 'People who may add members' }) },
    wish: ({ MemberAddMode }) => ({ of: 'whoAddsMembers', who: MemberAddMode === addModes.admins ? 'admins' : 'all' }),
    response: ({ MemberAddMode }) => `Group member add mode set to ${MemberAddMode} successfully`,
  }),
  route({
    on: ['POST /group/ephemeral'],
    operationId: 'setGroupTimer',
    credential: 'instance',
    tag,
    summary: 'Let messages of a group disappear after 1, 7 or 90 days, or stay',
    body: EphemeralBody,
    answer: EphemeralAnswer,
    invalidTexts: { ...noGroup, duration: badTimer },
    refusals: {
      ...platformRefusals,
      ...adminRefusals,
      forbidden: { text: 'user is not an admin of this group' },
      invalid: { example: badTimer },
    },
    run: async ({ gateway, id, body }) => {
      const timer = timerOf(body.duration);
      if (timer === null) return refuse('invalid', badTimer);
      const { label, seconds } = timer;
      const changed = await gateway.perform(id, 'group.change', { groupId: body.groupjid, wish: { of: 'ephemeral', seconds } });
      if (!changed.ok) return changed;
      const chat = await gateway.chat(id, body.groupjid);
      return done({
        response: 'Ephemeral timer updated successfully',
        ...(!chat.ok ? {} : { chat: chatView(chat.value, gateway.view(id)?.record.owner ?? '') }),
        ephemeral: { enabled: seconds > 0, seconds, label },
        ...changedView(changed.value, { gateway, id }),
      });
    },
  }),
  route({
    on: ['POST /group/updateImage'],
    operationId: 'setGroupPicture',
    credential: 'instance',
    tag,
    summary: 'Set the picture of a group, or take it away',
    body: PictureBody,
    answer: ChangedGroup,
    invalidTexts: noGroup,
    bodyLimit: pictureBodyLimit,
    refusals: { ...platformRefusals, ...adminRefusals, ...pictureRefusals },
    run: async ({ gateway, id, body }) => {
      const source = pictureSource(body.image);
      return mapResult(await gateway.setGroupPicture(id, body.groupjid, source), (group) => ({
        response: source === '' ? 'Group image removed successfully' : 'Group image updated successfully',
        ...changedView(group, { gateway, id }),
      }));
    },
  }),
];

// Routes that create communities, and link groups to them.

const communityTag = 'community';

export const communityRoutes: readonly Route[] = [
  performs({
    on: ['POST /community/create'],
    operationId: 'createCommunity',
    tag: communityTag,
    summary: 'Make a community. The platform makes its announcement group',
    body: CreateCommunityBody,
    answer: CreateCommunityAnswer,
    invalidTexts: { '*': 'invalid payload' },
    refusals: { forbidden: {} },
    operation: 'community.create',
    input: ({ body }) => ({ name: body.name }),
    shown: ({ group }, call) => ({ group: groupViewFor(group, call), failed: [] }),
  }),
  performs({
    on: ['POST /community/editgroups'],
    operationId: 'editCommunityGroups',
    tag: communityTag,
    summary: 'Add groups to a community, or remove them. Each group is in one of the two lists of the answer',
    body: EditGroupsBody,
    answer: EditGroupsAnswer,
    refusals: {
      invalid: { example: 'The group is not a community' },
      forbidden: { example: 'User is not an admin of this community' },
      notFound: { example: 'Community not found' },
    },
    operation: 'community.edit',
    input: ({ body }) => ({ communityId: body.community, action: body.action, groupIds: [...new Set(body.groupjids)] }),
    shown: ({ done: success, failed }) => ({ message: 'community updated', success, failed }),
  }),
];
