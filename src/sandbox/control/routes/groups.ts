/** Routes for making, listing and changing groups. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { GroupChange, Sandbox } from '../../interface.ts';
import { addressing, answers, Digits, Group, GroupJid, Groups, NumberParams, Participants } from '../contents.ts';

const tags = ['groups'];

const Subject = Type.String({ minLength: 1, maxLength: 100, description: 'a subject of 1 to 100 characters' });

type Change = { readonly by: string } & GroupChange;

/** The fields of each change. Actions with the same fields share a row. */
const branches = [
  { actions: ['add', 'remove', 'promote', 'demote', 'approve', 'reject'], fields: { participants: Participants } },
  { actions: ['subject', 'description'], fields: { text: Type.String({ maxLength: 2048 }) } },
  { actions: ['announce', 'locked', 'approval', 'adminAdd'], fields: { on: Type.Boolean() } },
  {
    actions: ['ephemeral'],
    fields: { seconds: Type.Integer({ minimum: 0, maximum: 31_536_000, description: 'seconds; 0 keeps messages' }) },
  },
  { actions: ['invite'], fields: {} },
];

const ChangeBody = Type.Unsafe<Change>({
  type: 'object',
  required: ['action'],
  discriminator: { propertyName: 'action' },
  oneOf: branches.map(({ actions, fields }) =>
    Type.Object({ action: Type.Enum(actions), by: Digits, ...fields }, { additionalProperties: false, title: actions.join(',') }),
  ),
});

export const groups: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/groups',
    {
      schema: {
        tags,
        summary: 'A person creates a group',
        body: Type.Object({
          subject: Subject,
          creator: Digits,
          participants: Participants,
          addressing: Type.Optional(addressing('How members are named on the wire')),
        }),
        response: answers(Group),
      },
    },
    async ({ body }) => sandbox.createGroup(body),
  );

  app.get('/groups', { schema: { tags, summary: 'All groups', response: answers(Groups) } }, async () => sandbox.groups());

  app.post(
    '/groups/:jid',
    {
      schema: {
        tags,
        summary: 'A person changes a group',
        params: Type.Object({ jid: GroupJid }),
        body: ChangeBody,
        response: answers(Group),
      },
    },
    async ({ params: { jid }, body: { by, ...change } }) => sandbox.updateGroup(jid, by, change),
  );

  app.post(
    '/contacts/:number/groups',
    {
      schema: {
        tags,
        summary: 'A person follows the link of a group; `joined` is false when an admin has to approve first',
        params: NumberParams,
        body: Type.Object({ code: Type.String({ minLength: 1, maxLength: 100, description: 'the code of a link' }) }),
        response: answers(Type.Object({ jid: Type.String(), joined: Type.Boolean() })),
      },
    },
    async ({ params: { number }, body: { code } }) => sandbox.joinGroup(number, code),
  );
};

// Routes for making communities, and for the groups that belong to them.

const Edited = Type.Unsafe<Awaited<ReturnType<Sandbox['editCommunity']>>>(
  Type.Array(Type.Object({ jid: Type.String(), error: Type.Optional(Type.String()) })),
);

export const communities: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/communities',
    {
      schema: {
        tags,
        summary: 'A person creates a community, with its group of announcements',
        body: Type.Object({
          subject: Subject,
          creator: Digits,
          addressing: Type.Optional(addressing('How members are named on the wire')),
        }),
        response: answers(Group),
      },
    },
    async ({ body }) => sandbox.createCommunity(body),
  );

  app.post(
    '/communities/:jid',
    {
      schema: {
        tags,
        summary: 'An admin puts groups into a community, or takes them out of it',
        params: Type.Object({ jid: GroupJid }),
        body: Type.Object({
          by: Digits,
          action: Type.Enum(['link', 'unlink']),
          groups: Type.Array(GroupJid, { minItems: 1, maxItems: 100, description: 'a list of 1 to 100 groups' }),
        }),
        response: answers(Edited),
      },
    },
    async ({ params: { jid }, body: { by, ...change } }) => sandbox.editCommunity(jid, by, change),
  );
};
