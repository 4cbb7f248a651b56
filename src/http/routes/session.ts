/** Routes of the dashboard's session: the admin token is sent once, and a cookie stands for it afterwards. */
import { eventTypes, type Gateway, messageFilters, streamTypes } from '#actors/gateway.ts';
import { type AdminSessions, sessionCookie, sessionNameOf } from '../dashboard.ts';
import type { HttpOptions, SimulatedPhone } from '../options.ts';
import { done, instanceRefusals, refuse, type Route, route, unknownInstance } from '../route.ts';
import { ScanAnswer, SessionAnswer, TokenAnswer } from '../schemas/server.ts';

const tag = 'admin';

/** Offered beside a simulated platform only. */
const scanRow = (phone: SimulatedPhone): Route =>
  route({
    on: ['POST /admin/sandbox/scan'],
    operationId: 'scanWithSimulatedPhone',
    credential: 'instance',
    tag,
    summary: 'Let a simulated phone scan the QR code that the instance shows',
    answer: ScanAnswer,
    refusals: { notFound: {}, conflict: { example: 'the instance shows no QR code now' } },
    run: async ({ gateway, id }) => {
      const view = await gateway.current(id);
      if (view === null) return unknownInstance;
      if (view.qrcode === '') return refuse('conflict', 'the instance shows no QR code now');
      const objection = await phone.scan(view.qrcode, view.record.name);
      return objection === null ? done({ scanned: true }) : refuse('conflict', objection);
    },
  });

const tokenRow: Route = route({
  on: ['GET /admin/session/token'],
  operationId: 'getInstanceToken',
  credential: 'instance',
  tag,
  summary: 'Give the token of the instance to the dashboard, for somebody who wants to copy it',
  givesToken: true,
  answer: TokenAnswer,
  refusals: instanceRefusals,
  run: ({ gateway, id }) => {
    const view = gateway.view(id);
    return view === null ? unknownInstance : done({ token: view.record.token });
  },
});

export const sessionRoutes = (
  { version, demoServer, adminSessionMs, simulatedPhone }: HttpOptions,
  sessions: AdminSessions,
): readonly Route[] => {
  /** The page offers what this build has. */
  const phone = { sandbox: simulatedPhone !== null, sandboxPage: simulatedPhone?.page ?? '' };
  const choices = { version, ...phone, eventTypes: [...eventTypes], streamTypes: [...streamTypes], messageFilters: [...messageFilters] };
  const shown = (signedIn: boolean, { nodeName, clientVersion }: Pick<Gateway, 'nodeName' | 'clientVersion'>) => ({
    signedIn,
    demo: demoServer,
    ...(signedIn ? { clientVersion: clientVersion(), cluster: nodeName !== null, ...choices } : {}),
  });
  return [
    route({
      on: ['GET /admin/session'],
      operationId: 'getAdminSession',
      credential: 'none',
      tag,
      summary: 'Tell whether the cookie of the request is a session of the dashboard',
      answer: SessionAnswer,
      run: async ({ gateway, request }) => done(shown(await sessions.has(sessionNameOf(request)), gateway)),
    }),
    route({
      on: ['POST /admin/session'],
      operationId: 'beginAdminSession',
      credential: 'admin',
      tag,
      summary: 'Sign in to the dashboard: the admin token in the header becomes a cookie, which counts instead of it',
      answer: SessionAnswer,
      headers: { 'set-cookie': 'The session: HttpOnly, SameSite=Strict, and Secure over HTTPS' },
      run: async ({ gateway, request, reply }) => {
        // A session that could make another one would never end.
        if (request.adminSession !== '') return refuse('invalid', 'the admin token is required to begin a session');
        void reply.header('set-cookie', sessionCookie(request, await sessions.begin(), adminSessionMs));
        return done(shown(true, gateway));
      },
    }),
    route({
      on: ['DELETE /admin/session'],
      operationId: 'endAdminSession',
      credential: 'admin',
      tag,
      summary: 'Sign out of the dashboard; its streams end',
      answer: SessionAnswer,
      run: async ({ gateway, request, reply }) => {
        await sessions.end(sessionNameOf(request));
        void reply.header('set-cookie', sessionCookie(request, '', 0));
        return done(shown(false, gateway));
      },
    }),
    tokenRow,
    ...(simulatedPhone === null ? [] : [scanRow(simulatedPhone)]),
  ];
};
