/**
 * Routes of the people who operate the gateway: users, their own password and one-time code, sessions of the dashboard, and the audit log.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type AuditEntry,
  type AuditQuery,
  type Gateway,
  mayAct,
  type OpenSession,
  type Result,
  type SessionUser,
  type User,
} from '#actors/gateway.ts';
import { isoTime, sessionView } from '#src/contract/views.ts';
import { type AdminSessions, sessionNameOf } from '../dashboard.ts';
import { done, refuse, type Route, route } from '../route.ts';
import { AuditAnswer, AuditQueryShape } from '../schemas/audit.ts';
import * as shape from '../schemas/users.ts';

// Routes of the people who operate the gateway: users, their own password and one-time code, and sessions of the dashboard.

const common = { credential: 'admin', tag: 'admin' } as const;
const unknown = { example: 'there is no such user' } as const;
const wrong = { example: 'the password is wrong' } as const;
const changedMeanwhile = { example: 'another request has just changed the user' } as const;
const tooMany = { example: 'Rate limit exceeded' } as const;

/** Returns the user of the request; null for the admin token. */
const userOf = ({ caller }: FastifyRequest): SessionUser | null => (caller?.actor === 'user' ? caller.user : null);

const noUser = refuse('invalid', 'the admin token has no password of its own: sign in by a name');

/**
 * Changes a user, and ends the user's sessions in this process. The sessions also end after a failure, because the database may have changed the user before
 * its answer was lost. Sessions that are still valid are loaded from the database again.
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

/** Returns the sessions that the user may see and end: administrators all sessions, and other users their own. */
const visibleTo = (request: FastifyRequest, all: readonly OpenSession[]): readonly OpenSession[] => {
  const user = userOf(request);
  return user === null || mayAct(user.role, 'administrator') ? all : all.filter((session) => session.user?.id === user.id);
};

const sessionRows = (sessions: AdminSessions): readonly Route[] => [
  route({
    on: ['GET /admin/sessions'],
    operationId: 'listSessions',
    ...common,
    summary: 'List the sessions of the dashboard, the latest first. Users who are no administrators see their own',
    answer: shape.SessionsAnswer,
    run: async ({ request }) => {
      const own = sessions.idOf(sessionNameOf(request));
      return done({
        sessions: visibleTo(request, await sessions.list()).map((session) => sessionView({ ...session, own: session.id === own })),
      });
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

// The audit log: pages, and exports as lines of JSON or as CSV.

const usual = 100;
/** The largest number of entries that an export reads in one query. */
const exportPage = 1_000;

const columns = ['id', 'at', 'actor', 'who', 'address', 'method', 'route', 'instance', 'subject', 'status'] as const;

/** Quotes a cell (RFC 4180). A spreadsheet reads a text that begins with a sign of the pattern as a formula, so an apostrophe goes before it. */
const cell = (value: string | number): string => {
  const text = typeof value === 'number' ? String(value) : value.replace(/^\s*[=+\-@\t\r\n]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Makes the CSV line of an entry, with the time in ISO form, which people and spreadsheets can read. */
const csvLine = (entry: AuditEntry): string =>
  `${columns.map((name) => cell(name === 'at' ? isoTime(entry.at) : entry[name])).join(',')}\r\n`;

const formats = {
  ndjson: { type: 'application/x-ndjson', head: '', line: (entry: AuditEntry) => `${JSON.stringify(entry)}\n` },
  csv: { type: 'text/csv; charset=utf-8', head: `${columns.join(',')}\r\n`, line: csvLine },
} as const;

/**
 * Yields all entries that match the query, page by page. An export of any length therefore needs the memory of one page. The head is sent with the first page,
 * so the output begins only after a query has succeeded.
 */
async function* linesOf({ auditPage }: Gateway, query: AuditQuery, { head, line }: (typeof formats)['csv' | 'ndjson']) {
  let [{ before }, text]: [Pick<AuditQuery, 'before'>, string] = [query, head];
  for (;;) {
    const { entries, next } = await auditPage({ ...query, limit: exportPage, ...(before === undefined ? {} : { before }) });
    text += entries.map(line).join('');
    if (text !== '') yield text;
    if (next === null) return;
    [before, text] = [next, ''];
  }
}

const sendExport = async (reply: FastifyReply, gateway: Gateway, query: AuditQuery, format: 'ndjson' | 'csv'): Promise<null> => {
  const { type } = formats[format];
  const lines = linesOf(gateway, query, formats[format]);
  // The first page is read before the status is sent. If the database is unavailable, the client gets the usual error.
  const first = await lines.next();
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-disposition': `attachment; filename="audit.${format}"`,
  });
  const all = async function* () {
    if (first.done !== true) yield first.value;
    yield* lines;
  };
  // The cut connection shows the client that the export is incomplete.
  await pipeline(Readable.from(all()), reply.raw).catch(() => reply.raw.destroy());
  return null;
};

export const auditRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/audit'],
    operationId: 'listAuditEntries',
    credential: 'admin',
    tag: 'admin',
    summary:
      'List the changes by operators with caller, time and address, the latest first. `format` exports all entries that fit as ndjson or csv',
    query: AuditQueryShape,
    answer: AuditAnswer,
    run: async ({ gateway, query: { format = 'json', limit = usual, ...filter }, reply }) => {
      if (format !== 'json') return sendExport(reply, gateway, { ...filter, limit: exportPage }, format);
      return done(await gateway.auditPage({ ...filter, limit }));
    },
  }),
];
