/** Groups: made, listed, joined, left, and their members. Their settings have rows of their own. */
import type { Gateway, Group as Stored, GroupQuery, InstanceId, Result } from '#actors/gateway.ts';
import { failedView, groupView, inviteCodeOf, inviteLink, memberOutcomeView } from '#src/contract/views.ts';
import { done, instanceRefusals, mapResult, platformRefusals, type Refusals, refuse, type Route, route } from '../route.ts';
import { emptyPage, type Page, pageSize, pageWithin, withPage } from '../page.ts';
import { ref } from '../schemas/common.ts';
import {
  ChangedGroup,
  CreateGroupAnswer,
  CreateGroupBody,
  Group,
  GroupBody,
  GroupInfoBody,
  groupPage,
  GroupParams,
  GroupsAnswer,
  InviteBody,
  LinkAnswer,
  ListGroupsBody,
  ListGroupsQuery,
  MembersAnswer,
  MembersBody,
} from '../schemas/group.ts';
import { Type } from 'typebox';

export const tag = 'group';

/** The account, as a member of its groups. */
export const accountOf = (gateway: Gateway, id: InstanceId) => {
  const record = gateway.view(id)?.record;
  if (!record) return null;
  const bare = (jid: string): string => jid.replace(/:\d+@/, '@');
  return { id: '', pn: bare(record.jid), lid: bare(record.lid) };
};

/** `group` and `needs_refresh` of an answer. */
export const changedView = (gateway: Gateway, id: InstanceId, group: Stored | null) => ({
  ...(group === null ? {} : { group: groupView(group, { me: accountOf(gateway, id) }) }),
  needs_refresh: group === null,
});

/** Groups that are read at once while an answer is filled. */
const piece = 100;

interface Listing extends GroupQuery {
  readonly force: boolean;
}

/** Reads pieces of a page until it is full, or the answer is. */
const listed = async (gateway: Gateway, id: InstanceId, query: Listing, bytes: number) => {
  const me = accountOf(gateway, id);
  const view = (group: Stored) => groupView(group, { me, members: query.members });
  let page: Page<ReturnType<typeof view>> = emptyPage;
  for (;;) {
    const read = page.views.length;
    const limit = Math.min(piece, query.limit - read);
    const found = await gateway.listGroups(id, { ...query, force: query.force && read === 0, limit, offset: query.offset + read });
    if (!found.ok) return found;
    page = pageWithin(found.value.groups, view, bytes, page);
    if (!page.cut && found.value.groups.length === limit && page.views.length < query.limit) continue;
    const { limit: asked, offset } = query;
    const nextOffset = offset + page.views.length;
    const totalRecords = found.value.total;
    return done(
      withPage('groups', page, { pagination: { totalRecords, limit: asked, offset, nextOffset, hasMore: nextOffset < totalRecords } }),
    );
  }
};

const codeOf = (written: string): Result<string> => {
  const code = inviteCodeOf(written);
  return code === '' ? refuse('invalid', 'Invalid invite code') : done(code);
};

const noCode = { '*': 'Invalid invite code' } as const;
export const noGroup = { groupjid: 'Could not parse Group JID' } as const;
/** The refusals of requests that only admins may make. */
export const adminRefusals = {
  ...platformRefusals,
  forbidden: { example: 'User is not an admin of this group' },
  notFound: { example: 'Group not found' },
} as const satisfies Refusals;

export const groupRoutes: readonly Route[] = [
  route({
    on: ['POST /group/create'],
    operationId: 'createGroup',
    credential: 'instance',
    tag,
    summary: 'Make a group; people who could not be added are listed with the reason',
    body: CreateGroupBody,
    answer: CreateGroupAnswer,
    refusals: { ...platformRefusals, invalid: { example: 'Could not parse phone' } },
    failure: { text: 'Failed to create group' },
    run: async ({ gateway, id, body }) =>
      mapResult(
        await gateway.perform(id, 'group.create', { name: body.name, people: body.participants.map(String) }),
        ({ group, outcomes }) => ({
          group: groupView(group, { me: accountOf(gateway, id) }),
          failed: outcomes.map(failedView),
        }),
      ),
  }),
  route({
    on: ['POST /group/info'],
    operationId: 'getGroup',
    credential: 'instance',
    tag,
    summary: 'Show a group with its members; admins may have the link and those who asked to join with it',
    body: GroupInfoBody,
    answer: ref(Group),
    invalidTexts: noGroup,
    refusals: {
      ...platformRefusals,
      notFound: { example: 'Group not found' },
      forbidden: { example: 'the account is not a member of this group' },
    },
    failure: { text: 'Failed to retrieve group information' },
    run: async ({ gateway, id, body }) => {
      const { groupjid: groupId, force: fresh = false, getInviteLink: link = false, getRequestsParticipants: requests = false } = body;
      return mapResult(await gateway.perform(id, 'group.get', { groupId, fresh, link, requests }), ({ group, requests: asking }) =>
        groupView(group, { me: accountOf(gateway, id), requests: asking }),
      );
    },
  }),
  route({
    on: ['POST /group/inviteInfo'],
    operationId: 'previewGroup',
    credential: 'instance',
    tag,
    summary: 'Show the group behind a link, without joining it',
    body: InviteBody,
    answer: ref(Group),
    invalidTexts: noCode,
    refusals: {
      ...platformRefusals,
      invalid: { example: 'Invalid invite code' },
      notFound: { example: 'Group invite link is invalid or has expired' },
    },
    failure: { text: 'Failed to retrieve group information' },
    run: async ({ gateway, id, body }) => {
      const code = codeOf(body.invitecode);
      if (!code.ok) return code;
      return mapResult(await gateway.perform(id, 'group.preview', { code: code.value }), (group) =>
        groupView(group, { me: accountOf(gateway, id) }),
      );
    },
  }),
  route({
    on: ['POST /group/join'],
    operationId: 'joinGroup',
    credential: 'instance',
    tag,
    summary: 'Join a group by its link; where admins approve, the request waits for them',
    body: InviteBody,
    answer: ChangedGroup,
    invalidTexts: noCode,
    refusals: { ...platformRefusals, invalid: { example: 'Invalid invite code' }, forbidden: { example: 'Unable to join group' } },
    failure: { text: 'Error processing group invite' },
    run: async ({ gateway, id, body }) => {
      const code = codeOf(body.invitecode);
      if (!code.ok) return code;
      return mapResult(await gateway.perform(id, 'group.join', { code: code.value }), ({ group, waits }) => ({
        response: waits ? 'Group join request sent: an admin has to approve it' : 'Group join successful',
        ...changedView(gateway, id, group),
      }));
    },
  }),
  route({
    on: ['POST /group/leave'],
    operationId: 'leaveGroup',
    credential: 'instance',
    tag,
    summary: 'Leave a group',
    body: GroupBody,
    answer: Type.Object({ response: Type.String() }),
    invalidTexts: { '*': 'invalid payload' },
    refusals: platformRefusals,
    failure: { text: 'error leaving group' },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'group.leave', { groupId: body.groupjid }), () => ({ response: 'Group leave successful' })),
  }),
  route({
    on: ['POST /group/list'],
    operationId: 'findGroups',
    credential: 'instance',
    tag,
    summary: 'List the groups of the account, in pages',
    body: ListGroupsBody,
    answer: GroupsAnswer,
    refusals: { ...platformRefusals, ...instanceRefusals },
    run: ({ gateway, id, body, answerBytes }) =>
      listed(
        gateway,
        id,
        {
          search: body.search ?? '',
          members: body.noParticipants !== true,
          force: body.force ?? false,
          limit: pageSize(body.limit ?? 0, groupPage),
          offset: body.offset ?? 0,
        },
        answerBytes,
      ),
  }),
  route({
    on: ['GET /group/list'],
    operationId: 'listGroups',
    credential: 'instance',
    tag,
    summary: 'List the groups of the account, as many as an answer holds',
    query: ListGroupsQuery,
    answer: GroupsAnswer,
    refusals: { ...platformRefusals, ...instanceRefusals },
    run: ({ gateway, id, query, answerBytes }) => {
      const { force = false, noparticipants = false } = query;
      return listed(gateway, id, { search: '', members: !noparticipants, force, limit: groupPage.all, offset: 0 }, answerBytes);
    },
  }),
  route({
    on: ['POST /group/resetInviteCode'],
    operationId: 'renewGroupLink',
    credential: 'instance',
    tag,
    summary: 'Make a new link of a group; the old one is void',
    body: GroupBody,
    answer: LinkAnswer,
    invalidTexts: noGroup,
    refusals: adminRefusals,
    failure: { text: 'Failed to reset group invite link' },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'group.link', { groupId: body.groupjid, renew: true }), ({ code, group }) => ({
        InviteLink: inviteLink(code),
        ...changedView(gateway, id, group),
      })),
  }),
  route({
    on: ['GET /group/invitelink/:groupJID'],
    operationId: 'getGroupLink',
    credential: 'instance',
    tag,
    summary: 'Show the link of a group',
    params: GroupParams,
    answer: LinkAnswer,
    invalidTexts: { groupJID: 'Could not parse Group JID' },
    refusals: adminRefusals,
    run: async ({ gateway, id, params }) =>
      mapResult(await gateway.perform(id, 'group.link', { groupId: params.groupJID, renew: false }), ({ code, group }) => ({
        InviteLink: inviteLink(code),
        ...changedView(gateway, id, group),
      })),
  }),
  route({
    on: ['POST /group/updateParticipants'],
    operationId: 'changeGroupMembers',
    credential: 'instance',
    tag,
    summary: 'Add, remove and rank members, or decide about requests to join; each person has an outcome',
    body: MembersBody,
    answer: MembersAnswer,
    invalidTexts: noGroup,
    refusals: { ...platformRefusals, invalid: { example: 'Could not parse phone' } },
    run: async ({ gateway, id, body }) => {
      const { groupjid: groupId, action, participants } = body;
      return mapResult(
        await gateway.perform(id, 'group.members', { groupId, action, people: participants.map(String) }),
        ({ group, outcomes }) => ({
          groupUpdated: outcomes.map(memberOutcomeView),
          ...changedView(gateway, id, group),
        }),
      );
    },
  }),
];
