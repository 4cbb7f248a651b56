/** Communities: made, and which groups belong to them. */
import { groupView } from '#src/contract/views.ts';
import { mapResult, platformRefusals, type Route, route } from '../route.ts';
import { CreateCommunityAnswer, CreateCommunityBody, EditGroupsAnswer, EditGroupsBody } from '../schemas/group.ts';
import { accountOf } from './group.ts';

const tag = 'community';

export const communityRoutes: readonly Route[] = [
  route({
    on: ['POST /community/create'],
    operationId: 'createCommunity',
    credential: 'instance',
    tag,
    summary: 'Make a community; the platform makes its group of announcements',
    body: CreateCommunityBody,
    answer: CreateCommunityAnswer,
    invalidTexts: { '*': 'invalid payload' },
    refusals: { ...platformRefusals, forbidden: {} },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'community.create', { name: body.name }), ({ group }) => ({
        group: groupView(group, { me: accountOf(gateway, id) }),
        failed: [],
      })),
  }),
  route({
    on: ['POST /community/editgroups'],
    operationId: 'editCommunityGroups',
    credential: 'instance',
    tag,
    summary: 'Put groups into a community, or take them out of it; each group is in one of the two lists of the answer',
    body: EditGroupsBody,
    answer: EditGroupsAnswer,
    refusals: {
      ...platformRefusals,
      invalid: { example: 'The group is not a community' },
      forbidden: { example: 'User is not an admin of this community' },
      notFound: { example: 'Community not found' },
    },
    run: async ({ gateway, id, body }) => {
      const { community: communityId, action, groupjids } = body;
      const groupIds = [...new Set(groupjids)];
      return mapResult(await gateway.perform(id, 'community.edit', { communityId, action, groupIds }), ({ done, failed }) => ({
        message: 'community updated',
        success: done,
        failed,
      }));
    },
  }),
];
