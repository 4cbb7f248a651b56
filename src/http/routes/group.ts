/** Groups: create, list, join and leave them, and change their members. Group settings are in `group-settings.ts`. */
import type { Group as Stored, GroupQuery } from '#actors/gateway.ts';
import { failedView, groupView, inviteCodeOf, inviteLink, memberOutcomeView } from '#src/contract/views.ts';
import { type Call, done, instanceRefusals, performs, platformRefusals, type Refusals, refuse, type Route, route } from '../route.ts';
import { emptyPage, type Page, pageSize, pageWithin, withPage } from '../answers.ts';
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

type Asking = Pick<Call<unknown, unknown, unknown>, 'gateway' | 'id'>;

/** Returns the account in the form of a member of a group. */
const accountOf = ({ gateway, id }: Asking) => {
  const record = gateway.view(id)?.record;
  if (!record) return null;
  const bare = (jid: string): string => jid.replace(/:\d+@/, '@');
  return { id: '', pn: bare(record.jid), lid: bare(record.lid) };
};

/** Makes the view of a group for the account of the call. */
export const groupViewFor = (group: Stored, call: Asking) => groupView(group, { me: accountOf(call) });

/** Makes the fields `group` and `needs_refresh` of an answer. */
export const changedView = (group: Stored | null, call: Asking) => ({
  ...(group === null ? {} : { group: groupViewFor(group, call) }),
  needs_refresh: group === null,
});

const linkView = ({ code, group }: { readonly code: string; readonly group: Stored | null }, call: Asking) => ({
  InviteLink: inviteLink(code),
  ...changedView(group, call),
});

/** Largest number of groups in one read of the storage. */
const piece = 100;

interface Listing extends GroupQuery {
  readonly force: boolean;
}

/** Reads groups in batches until the page or the answer is full. */
const listed = async ({ gateway, id, answerBytes }: Call<unknown, unknown, unknown>, query: Listing) => {
  const me = accountOf({ gateway, id });
  const view = (group: Stored) => groupView(group, { me, members: query.members });
  let page: Page<ReturnType<typeof view>> = emptyPage;
  for (;;) {
    const read = page.views.length;
    const limit = Math.min(piece, query.limit - read);
    const found = await gateway.listGroups(id, { ...query, force: query.force && read === 0, limit, offset: query.offset + read });
    if (!found.ok) return found;
    page = pageWithin(found.value.groups, view, answerBytes, page);
    if (!page.cut && found.value.groups.length === limit && page.views.length < query.limit) continue;
    const { limit: asked, offset } = query;
    const nextOffset = offset + page.views.length;
    const totalRecords = found.value.total;
    return done(
      withPage('groups', page, { pagination: { totalRecords, limit: asked, offset, nextOffset, hasMore: nextOffset < totalRecords } }),
    );
  }
};

const badCode = 'Invalid invite code';

const codeOf = (written: string) => {
  const code = inviteCodeOf(written);
  return code === '' ? refuse('invalid', badCode) : { code };
};

const noCode = { '*': badCode } as const;
export const noGroup = { groupjid: 'Could not parse Group JID' } as const;
/** The refusals of requests that only admins may make. */
export const adminRefusals = {
  forbidden: { example: 'User is not an admin of this group' },
  notFound: { example: 'Group not found' },
} as const satisfies Refusals;

export const groupRoutes: readonly Route[] = [
  performs({
    on: ['POST /group/create'],
    operationId: 'createGroup',
    tag,
    summary: 'Make a group; people who could not be added are listed with the reason',
    body: CreateGroupBody,
    answer: CreateGroupAnswer,
    refusals: { invalid: { example: 'Could not parse phone' } },
    failure: { text: 'Failed to create group' },
    operation: 'group.create',
    input: ({ body }) => ({ name: body.name, people: body.participants.map(String) }),
    shown: ({ group, outcomes }, call) => ({ group: groupViewFor(group, call), failed: outcomes.map(failedView) }),
  }),
  performs({
    on: ['POST /group/info'],
    operationId: 'getGroup',
    tag,
    summary: 'Show a group with its members. Admins can also get the link and the requests to join',
    body: GroupInfoBody,
    answer: ref(Group),
    invalidTexts: noGroup,
    refusals: { notFound: { example: 'Group not found' }, forbidden: { example: 'the account is not a member of this group' } },
    failure: { text: 'Failed to retrieve group information' },
    operation: 'group.get',
    input({ body }) {
      const { groupjid: groupId, force: fresh = false, getInviteLink: link = false, getRequestsParticipants: requests = false } = body;
      return { groupId, fresh, link, requests };
    },
    shown: ({ group, requests }, call) => groupView(group, { me: accountOf(call), requests }),
  }),
  performs({
    on: ['POST /group/inviteInfo'],
    operationId: 'previewGroup',
    tag,
    summary: 'Show the group behind a link, without joining it',
    body: InviteBody,
    answer: ref(Group),
    invalidTexts: noCode,
    refusals: { invalid: { example: badCode }, notFound: { example: 'Group invite link is invalid or has expired' } },
    failure: { text: 'Failed to retrieve group information' },
    operation: 'group.preview',
    input: ({ body }) => codeOf(body.invitecode),
    shown: groupViewFor,
  }),
  performs({
    on: ['POST /group/join'],
    operationId: 'joinGroup',
    tag,
    summary: 'Join a group by its link. If admins approve members, the request waits for them',
    body: InviteBody,
    answer: ChangedGroup,
    invalidTexts: noCode,
    refusals: { invalid: { example: badCode }, forbidden: { example: 'Unable to join group' } },
    failure: { text: 'Error processing group invite' },
    operation: 'group.join',
    input: ({ body }) => codeOf(body.invitecode),
    shown: ({ group, waits }, call) => ({
      response: waits ? 'Group join request sent: an admin has to approve it' : 'Group join successful',
      ...changedView(group, call),
    }),
  }),
  performs({
    on: ['POST /group/leave'],
    operationId: 'leaveGroup',
    tag,
    summary: 'Leave a group',
    body: GroupBody,
    answer: Type.Object({ response: Type.String() }),
    invalidTexts: { '*': 'invalid payload' },
    failure: { text: 'error leaving group' },
    operation: 'group.leave',
    input: ({ body }) => ({ groupId: body.groupjid }),
    shown: () => ({ response: 'Group leave successful' }),
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
    run: (call) => {
      const { search = '', noParticipants = false, force = false, limit = 0, offset = 0 } = call.body;
      return listed(call, { search, members: !noParticipants, force, limit: pageSize(limit, groupPage), offset });
    },
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
    run: (call) => {
      const { force = false, noparticipants = false } = call.query;
      return listed(call, { search: '', members: !noparticipants, force, limit: groupPage.all, offset: 0 });
    },
  }),
  performs({
    on: ['POST /group/resetInviteCode'],
    operationId: 'renewGroupLink',
    tag,
    summary: 'Make a new link of a group. The old link stops working',
    body: GroupBody,
    answer: LinkAnswer,
    invalidTexts: noGroup,
    refusals: adminRefusals,
    failure: { text: 'Failed to reset group invite link' },
    operation: 'group.link',
    input: ({ body }) => ({ groupId: body.groupjid, renew: true }),
    shown: linkView,
  }),
  performs({
    on: ['GET /group/invitelink/:groupJID'],
    operationId: 'getGroupLink',
    tag,
    summary: 'Show the link of a group',
    params: GroupParams,
    answer: LinkAnswer,
    invalidTexts: { groupJID: 'Could not parse Group JID' },
    refusals: adminRefusals,
    operation: 'group.link',
    input: ({ params }) => ({ groupId: params.groupJID, renew: false }),
    shown: linkView,
  }),
  performs({
    on: ['POST /group/updateParticipants'],
    operationId: 'changeGroupMembers',
    tag,
    summary: 'Add, remove, promote and demote members, or answer requests to join. Each person has an outcome',
    body: MembersBody,
    answer: MembersAnswer,
    invalidTexts: noGroup,
    refusals: { invalid: { example: 'Could not parse phone' } },
    operation: 'group.members',
    input: ({ body }) => ({ groupId: body.groupjid, action: body.action, people: body.participants.map(String) }),
    shown: ({ group, outcomes }, call) => ({ groupUpdated: outcomes.map(memberOutcomeView), ...changedView(group, call) }),
  }),
];
