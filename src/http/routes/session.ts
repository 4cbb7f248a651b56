/** Routes of the dashboard's session: the admin token is sent once, and a cookie stands for it afterwards. */
import type { AdminSessions } from '../admin-sessions.ts';
import { sessionCookie, sessionNameOf } from '../admin-sessions.ts';
import type { HttpOptions } from '../options.ts';
import { done, refuse } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import { SessionAnswer } from '../schemas/session.ts';

const tag = 'admin';

export const sessionRoutes = ({ version, demoServer, adminSessionMs }: HttpOptions, sessions: AdminSessions): readonly Route[] => {
  const shown = (signedIn: boolean) => ({ signedIn, demo: demoServer, ...(signedIn ? { version } : {}) });
  return [
    route({
      on: ['GET /admin/session'],
      operationId: 'getAdminSession',
      credential: 'none',
      tag,
      summary: 'Tell whether the cookie of the request is a session of the dashboard',
      answer: SessionAnswer,
      run: ({ request }) => done(shown(sessions.has(sessionNameOf(request)))),
    }),
    route({
      on: ['POST /admin/session'],
      operationId: 'beginAdminSession',
      credential: 'admin',
      tag,
      summary: 'Sign in to the dashboard: the admin token in the header becomes a cookie, which counts instead of it',
      answer: SessionAnswer,
      headers: { 'set-cookie': 'The session: HttpOnly, SameSite=Strict, and Secure over HTTPS' },
      run: ({ request, reply }) => {
        // A session that could make another one would never end.
        if (request.adminSession !== '') return refuse('invalid', 'the admin token is required to begin a session');
        void reply.header('set-cookie', sessionCookie(request, sessions.begin(), adminSessionMs));
        return done(shown(true));
      },
    }),
    route({
      on: ['DELETE /admin/session'],
      operationId: 'endAdminSession',
      credential: 'admin',
      tag,
      summary: 'Sign out of the dashboard; its streams end',
      answer: SessionAnswer,
      run: ({ request, reply }) => {
        sessions.end(sessionNameOf(request));
        void reply.header('set-cookie', sessionCookie(request, '', 0));
        return done(shown(false));
      },
    }),
  ];
};
