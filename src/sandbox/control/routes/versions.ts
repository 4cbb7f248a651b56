/** The route for versions of clients that the platform serves. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Sandbox } from '../../face.ts';
import { answers, Done, done } from '../schemas.ts';

const Version = Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$', maxLength: 40, description: 'a version such as 2.3000.1040000000' });
const VersionRules = Type.Object({
  connect: Type.Optional(Version),
  link: Type.Optional(Version),
  current: Type.Optional(Version),
  broken: Type.Optional(Version),
  newForms: Type.Optional(Type.Boolean({ description: 'True: requests in old forms are refused' })),
});

export const versions: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.put(
    '/versions',
    {
      schema: {
        tags: ['platform'],
        summary: 'The oldest versions of clients that may connect (405) and that may be linked (no pair-success); absent: every version',
        body: VersionRules,
        response: answers(Done),
      },
    },
    async ({ body }) => {
      sandbox.requireVersion(body);
      return done;
    },
  );

  // The service worker of the web client, which answers 200 only to a browser that opens it by itself.
  app.get('/sw.js', { schema: { hide: true } }, async (request, reply) => {
    const revision = sandbox.currentVersion()?.split('.')[2];
    if (request.headers['sec-fetch-site'] !== 'none') return reply.code(400).send();
    if (revision === undefined) return reply.code(404).send();
    return reply.type('text/javascript').send(`self.__data='{\\"client_revision\\":${revision},\\"push_phase\\":\\"C3\\"}';`);
  });
};
