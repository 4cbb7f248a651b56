/** Routes of the people who operate the gateway: users, their own password and one-time code, and sessions of the dashboard. */
import type { FastifyRequest } from 'fastify';
import { mayAct, type OpenSession, type Result, type SessionUser, type User } from '#actors/gateway.ts';
import { type AdminSessions, sessionNameOf } from '../dashboard.ts';
import { done, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/users.ts';

const common = { credential: 'admin', tag: 'admin' } as const;
const unknown = { example: 'there is no such user' } as const;
const wrong = { example: 'the password is wrong' } as const;
const changedMeanwhile = { example: 'another request has just changed the user' } as const;
const tooMany = { example: 'Rate limit exceeded' } as const;

/** The user of the request; null for the admin token. */
const userOf = ({ caller }: FastifyRequest): SessionUser | null => (caller?.actor === 'user' ? caller.user : null);

const noUser = refuse('invalid', 'the admin token has no password of its own: sign in by a name');

/**
 * Changes a user, and ends the user's sessions in this process. They end after a failure too, because the database may have changed the user before
 * its answer was lost. The database knows which sessions are still valid.
 */
const ending = async (
  sessions: AdminSessions,
  request: FastifyRequest,
  id: string,
  change: Promise<Result<User>>,
): Promise<Result<User>> => {
  const result = await change.catch((error: unknown) => {
    sessions.endOfUser(id);
    throw error;
  });
  if (!result.ok) return result;
  request.auditSubject = { subject: result.value.name };
  sessions.endOfUser(id);
  return result;
};

const userRows = (sessions: AdminSessions): readonly Route[] => [
  route({
    on: ['GET /admin/users'],
    operationId: 'listUsers',
    ...common,
    summary: 'List the users of the dashboard',
    answer: shape.UsersAnswer,
    run: async ({ gateway }) => done({ users: await gateway.users() }),
  }),
  route({
    on: ['POST /admin/users'],
    operationId: 'createUser',
    ...common,
    summary: 'Add a user, who signs in to the dashboard by name and password',
    body: shape.CreateUserBody,
    answer: shape.UserAnswer,
    refusals: {
      conflict: { example: 'there is a user of this name' },
      capped: { example: 'the gateway has 1000 users, which is the limit' },
      limited: tooMany,
    },
    run: async ({ gateway, body, request }) => {
      request.auditSubject = { subject: body.name };
      return gateway.createUser(body);
    },
  }),
  route({
    on: ['POST /admin/users/update'],
    operationId: 'updateUser',
    ...common,
    summary: 'Change the role or the password of a user, or remove the one-time code. The sessions of the user end',
    body: shape.UpdateUserBody,
    answer: shape.UserAnswer,
    refusals: { notFound: unknown, limited: tooMany },
    run: async ({ gateway, body: { id, ...patch }, request }) => ending(sessions, request, id, gateway.updateUser(id, patch)),
  }),
  route({
    on: ['POST /admin/users/delete'],
    operationId: 'deleteUser',
    ...common,
    summary: 'Delete a user. The sessions of the user end',
    body: shape.UserBody,
    answer: shape.UserAnswer,
    refusals: { notFound: unknown },
    run: async ({ gateway, body: { id }, request }) => ending(sessions, request, id, gateway.removeUser(id)),
  }),
];

const ownRows = (sessions: AdminSessions): readonly Route[] => [
  route({
    on: ['POST /admin/me/password'],
    operationId: 'changeOwnPassword',
    ...common,
    summary: 'Replace the own password. All own sessions end, including this one',
    body: shape.OwnPasswordBody,
    answer: shape.UserAnswer,
    refusals: { forbidden: wrong, conflict: changedMeanwhile, notFound: unknown, limited: tooMany },
    run: async ({ gateway, body: { password, newPassword }, request }) => {
      const user = userOf(request);
      return user === null ? noUser : ending(sessions, request, user.id, gateway.changePassword(user.id, password, newPassword));
    },
  }),
  route({
    on: ['POST /admin/me/code'],
    operationId: 'offerOwnCode',
    ...common,
    summary: 'Make a secret for one-time codes, as a QR code for an authenticator app. Nothing changes before the confirmation',
    answer: shape.CodeOffered,
    body: shape.OfferCodeBody,
    refusals: { forbidden: wrong, notFound: unknown, limited: tooMany },
    run: async ({ gateway, body: { password }, request }) => {
      const user = userOf(request);
      return user === null ? noUser : gateway.offerCode(user.id, password);
    },
  }),
  route({
    on: ['POST /admin/me/code/confirm'],
    operationId: 'confirmOwnCode',
    ...common,
    summary: 'Require one-time codes of this secret at every sign-in. All own sessions end, including this one',
    body: shape.ConfirmCodeBody,
    answer: shape.UserAnswer,
    refusals: { forbidden: wrong, conflict: changedMeanwhile, notFound: unknown, limited: tooMany },
    run: async ({ gateway, body: { secret, password, code }, request }) => {
      const user = userOf(request);
      return user === null ? noUser : ending(sessions, request, user.id, gateway.confirmCode(user.id, secret, password, code));
    },
  }),
  route({
    on: ['POST /admin/me/code/remove'],
    operationId: 'removeOwnCode',
    ...common,
    summary: 'Stop requiring one-time codes. All own sessions end, including this one',
    body: shape.RemoveCodeBody,
    answer: shape.UserAnswer,
    refusals: { forbidden: wrong, conflict: changedMeanwhile, notFound: unknown, limited: tooMany },
    run: async ({ gateway, body: { password }, request }) => {
      const user = userOf(request);
      return user === null ? noUser : ending(sessions, request, user.id, gateway.removeCode(user.id, password));
    },
  }),
];

/** Administrators see and end every session. Other users see and end their own. */
const visibleTo = (request: FastifyRequest, all: readonly OpenSession[]): readonly OpenSession[] => {
  const user = userOf(request);
  return user === null || mayAct(user.role, 'administrator') ? all : all.filter((session) => session.user?.id === user.id);
};

const sessionView = ({ id, user, ...session }: OpenSession, own: string | null) => ({
  id,
  user: user?.name ?? '',
  userId: user?.id ?? '',
  role: user?.role ?? ('administrator' as const),
  ...session,
  own: id === own,
});

const sessionRows = (sessions: AdminSessions): readonly Route[] => [
  route({
    on: ['GET /admin/sessions'],
    operationId: 'listSessions',
    ...common,
    summary: 'List the sessions of the dashboard, the latest first. Users who are no administrators see their own',
    answer: shape.SessionsAnswer,
    run: async ({ request }) => {
      const own = sessions.idOf(sessionNameOf(request));
      return done({ sessions: visibleTo(request, await sessions.list()).map((session) => sessionView(session, own)) });
    },
  }),
  route({
    on: ['POST /admin/sessions/end'],
    operationId: 'endSessions',
    ...common,
    summary: 'End one session of the dashboard, or all sessions of a user, with their streams',
    body: shape.EndSessionBody,
    examples: { body: { userId: 'u3f9a0c81d2e4b5' } },
    answer: shape.SessionsEnded,
    refusals: { notFound: { example: 'there is no such session' } },
    run: async ({ body: { id, userId }, request }) => {
      if ((id === undefined) === (userId === undefined)) return refuse('invalid', 'id or userId is required');
      const those = visibleTo(request, await sessions.list()).filter((session) =>
        id === undefined ? session.user?.id === userId : session.id === id,
      );
      if (those.length === 0) return refuse('notFound', 'there is no such session');
      request.auditSubject = { subject: those[0]?.user?.name ?? '' };
      for (const session of those) await sessions.endById(session.id);
      return done({ ended: those.length });
    },
  }),
];

export const userRoutes = (sessions: AdminSessions): readonly Route[] => [
  ...userRows(sessions),
  ...ownRows(sessions),
  ...sessionRows(sessions),
];
