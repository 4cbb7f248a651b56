/** Routes for the platform as a whole: faults, counters, trust, health, the live stream. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { chainForgeries } from '../../interface.ts';
import type { Fault, Sandbox, Stats } from '../../interface.ts';
import type { EventStream } from '../sent-log.ts';
import { answers, Digits, Done, done, NumberParams } from '../contents.ts';

const tags = ['platform'];

/** The kinds of faults. The compiler reports a kind of the `Sandbox` interface that this record lacks. */
const faultKinds = Object.keys({
  close: 0,
  reset: 0,
  silence: 0,
  streamError: 0,
  streamEnd: 0,
  conflict: 0,
  deviceRemoved: 0,
  loginFailure: 0,
  registrationRefresh: 0,
  rotateQr: 0,
  voidCode: 0,
  voidCodeByHand: 0,
  earlySuccess: 0,
  emptyHello: 0,
  repeatHello: 0,
  refuseUpgrade: 0,
  silentHandshake: 0,
  garbageHandshake: 0,
  badCertificate: 0,
  forgedAccount: 0,
  historyBomb: 0,
  forgedPairing: 0,
  forgedKeys: 0,
  keysUsedUp: 0,
  identityUntold: 0,
  silentDevices: 0,
  corruptFrame: 0,
  noLogin: 0,
  closeAfterLogin: 0,
  delay: 0,
  noAck: 0,
  ackError: 0,
  refuseStrangers: 0,
  refuseLookups: 0,
  refuseQuery: 0,
  pictureSilence: 0,
  garble: 0,
  retryLost: 0,
  uploadRefused: 0,
  uploadUnauthorised: 0,
  uploadSlow: 0,
  uploadCut: 0,
  duplicate: 0,
  mediaGone: 0,
  mediaCut: 0,
  mediaSlow: 0,
  mediaForged: 0,
  mediaRefused: 0,
  mediaSilence: 0,
} satisfies Record<Fault['kind'], 0>) as Fault['kind'][];

const FaultBody = Type.Object({
  kind: Type.Enum(faultKinds),
  number: Type.Optional(Digits),
  code: Type.Optional(Type.Integer({ minimum: 0, maximum: 4999, description: 'a status code' })),
  ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000, description: 'a time of at most 600000 milliseconds' })),
  query: Type.Optional(Type.String({ maxLength: 120, description: 'how the name of a request begins, such as w:g2/set' })),
  forgery: Type.Optional(Type.Enum([...chainForgeries], { description: 'how a certificate is wrong' })),
  times: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'a count; 0 clears the fault' })),
});

const Counts = Type.Unsafe<Stats>(Type.Object({}, { additionalProperties: true, description: 'Counters since the start' }));

export const world: FastifyPluginAsyncTypebox<{ sandbox: Sandbox; events: EventStream }> = async (app, { sandbox, events }) => {
  app.post(
    '/faults',
    {
      schema: {
        tags,
        summary: 'Injects a fault',
        body: FaultBody,
        response: answers(Type.Object({ hit: Type.Integer({ description: 'Live connections that it hit' }) })),
      },
    },
    async ({ body }) => sandbox.fault(body),
  );

  app.get(
    '/stats',
    {
      schema: {
        tags,
        summary: 'Counters since the start; `unknown` counts requests that the platform does not know',
        response: answers(Counts),
      },
    },
    async () => sandbox.stats(),
  );

  app.get(
    '/trust',
    {
      schema: {
        tags,
        summary: 'The public keys and certificates that a client must trust',
        response: answers(
          Type.Object({ noiseRoot: Type.String({ description: '32 bytes in hex' }), mediaAuthority: Type.String({ description: 'PEM' }) }),
        ),
      },
    },
    async () => sandbox.trust(),
  );

  app.get('/health', { schema: { tags, response: answers(Type.Object({ status: Type.Literal('ok') })) } }, async () => ({
    status: 'ok' as const,
  }));

  app.get(
    '/events',
    { exposeHeadRoute: false, schema: { tags, summary: 'Live stream of all events (server-sent events)' } },
    async (_request, reply) => {
      reply.hijack();
      events.join(reply.raw);
    },
  );
};

// The route by which the platform restricts an account from writing to strangers.

const phoneTags = ['phones'];

const Moment = Type.Optional(Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' }));
const Quota = Type.Optional(Type.Integer({ minimum: 0 }));

const RestrictionsBody = Type.Object({
  timeLock: Type.Optional(
    Type.Object(
      { active: Type.Boolean(), until: Moment, type: Type.Optional(Type.String({ maxLength: 100 })) },
      { description: 'while it is active, messages to people who never wrote are refused with 463' },
    ),
  ),
  capping: Type.Optional(
    Type.Object(
      {
        status: Type.Enum(['NONE', 'FIRST_WARNING', 'SECOND_WARNING', 'CAPPED']),
        used: Quota,
        total: Quota,
        cycleStart: Moment,
        cycleEnd: Moment,
      },
      { description: 'CAPPED: messages to people who never wrote are refused with 475' },
    ),
  ),
  oldQueries: Type.Optional(Type.Boolean({ description: 'the platform knows only the older query for the quota' })),
});

export const restrictions: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.put(
    '/phones/:number/restrictions',
    {
      schema: {
        tags: phoneTags,
        summary: 'The platform restricts an account from writing to strangers, or frees it, and tells its clients',
        params: NumberParams,
        body: RestrictionsBody,
        response: answers(Done),
      },
    },
    async ({ params: { number }, body }) => sandbox.restrict(number, body).then(() => done),
  );
};

// The route for versions of clients that the platform serves.

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

  // The service worker of the web client. The platform answers 200 only to a browser that opens the address directly, and not from a page.
  app.get('/sw.js', { schema: { hide: true } }, async (request, reply) => {
    const revision = sandbox.currentVersion()?.split('.')[2];
    if (request.headers['sec-fetch-site'] !== 'none') return reply.code(400).send();
    if (revision === undefined) return reply.code(404).send();
    return reply.type('text/javascript').send(`self.__data='{\\"client_revision\\":${revision},\\"push_phase\\":\\"C3\\"}';`);
  });
};
