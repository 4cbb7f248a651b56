/** Routes of the dashboard's session. The page sends the admin token once, and a cookie replaces it afterwards. */
import { eventTypes, type Gateway, messageFilters, streamTypes } from '#actors/gateway.ts';
import { type AdminSessions, isOwnOrNoPage, sessionCookie, sessionNameOf, type SessionOwner } from '../dashboard.ts';
import { demoText, forged } from '../route.ts';
import type { HttpOptions, SimulatedPhone } from '../options.ts';
import { guessedSession } from '../rate-limit.ts';
import { type AnswerOf, type BodyLimit, done, instanceRefusals, refuse, type Route, route, unknownInstance } from '../route.ts';
import { SignInBody } from '../schemas/users.ts';
import { ScanAnswer, SessionAnswer, TokenAnswer } from '../schemas/server.ts';

const tag = 'admin';

/** Makes the route by which the simulated phone scans a QR code. The route exists only if the platform is simulated. */
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
  summary: 'Show the token of the instance in the dashboard, to copy it',
  givesToken: true,
  answer: TokenAnswer,
  refusals: instanceRefusals,
  run: ({ gateway, id }) => {
    const view = gateway.view(id);
    return view === null ? unknownInstance : done({ token: view.record.token });
  },
});

const ownerView = ({ user }: SessionOwner) => ({
  user: user?.name ?? '',
  role: user?.role ?? ('administrator' as const),
  hasCode: user?.hasCode ?? false,
});

type Shown = (owner: SessionOwner, gateway: Gateway) => AnswerOf<typeof SessionAnswer>;

type ShownOrNot = (owner: SessionOwner | null, gateway: Gateway) => AnswerOf<typeof SessionAnswer>;

/** The text of every refused sign-in. */
const wrongSignIn = 'the name, the password or the one-time code is wrong';

/** The largest sign-in. The longest name, password and code need less than 8 KB, also if each character is escaped. */
const signInLimit: BodyLimit = { bytes: 16_384 };

const signInRow = (options: Pick<HttpOptions, 'demoServer' | 'adminSessionMs'>, sessions: AdminSessions, shown: Shown): Route =>
  route({
    on: ['POST /admin/session/user'],
    operationId: 'signIn',
    credential: 'none',
    tag,
    summary: 'Sign in to the dashboard by name and password, and by one-time code if the user has one',
    body: SignInBody,
    bodyLimit: signInLimit,
    answer: SessionAnswer,
    headers: { 'set-cookie': 'The session: HttpOnly, SameSite=Strict, and Secure over HTTPS' },
    refusals: { forbidden: { example: wrongSignIn }, limited: { example: 'Rate limit exceeded' } },
    run: async ({ gateway, request, reply, body: { name, password, code = '' } }) => {
      if (options.demoServer) return refuse('forbidden', demoText);
      if (!isOwnOrNoPage(request)) return refuse('forbidden', forged.text);
      const { admin } = request.server.authenticationLimit;
      const wait = admin.take(request);
      if (wait !== null) return refuse('limited', 'Rate limit exceeded', { retryAfter: wait });
      const signedIn = await gateway.authenticateUser({ name, password, code }).catch((error: unknown) => {
        admin.giveBack(request);
        throw error;
      });
      if (!signedIn.ok) {
        // The log does not contain the name, because people may type their password into the field of the name.
        if (signedIn.refusal.reason === 'forbidden') request.server.noteGuess(request, 'signIn');
        return signedIn;
      }
      const user = signedIn.value;
      const session = await sessions.begin(user, request.ip);
      if (session === null) return refuse('forbidden', wrongSignIn);
      admin.giveBack(request);
      request.caller = { actor: 'user', user };
      void reply.header('set-cookie', sessionCookie(request, session, options.adminSessionMs));
      return done(shown({ user }, gateway));
    },
  });

const currentRow = (sessions: AdminSessions, shown: ShownOrNot): Route =>
  route({
    on: ['GET /admin/session'],
    operationId: 'getAdminSession',
    credential: 'none',
    tag,
    summary: 'Tell whether the cookie of the request is a session of the dashboard',
    answer: SessionAnswer,
    refusals: { limited: { example: 'Rate limit exceeded' } },
    run: async ({ gateway, request }) => {
      const guess = await guessedSession(sessions, request.server.authenticationLimit, request);
      if ('found' in guess) return done(shown(guess.found, gateway));
      request.server.noteGuess(request, 'session');
      return refuse('limited', 'Rate limit exceeded', { retryAfter: guess.wait });
    },
  });

export const sessionRoutes = (
  { version, demoServer, adminSessionMs, simulatedPhone }: HttpOptions,
  sessions: AdminSessions,
): readonly Route[] => {
  /** The page offers only features that this server has. */
  const phone = { sandbox: simulatedPhone !== null, sandboxPage: simulatedPhone?.page ?? '' };
  const choices = { version, ...phone, eventTypes: [...eventTypes], streamTypes: [...streamTypes], messageFilters: [...messageFilters] };
  const shown = (owner: SessionOwner | null, { nodeName, clientVersion }: Pick<Gateway, 'nodeName' | 'clientVersion'>) => ({
    signedIn: owner !== null,
    demo: demoServer,
    ...(owner === null ? {} : { ...ownerView(owner), clientVersion: clientVersion(), cluster: nodeName !== null, ...choices }),
  });
  return [
    currentRow(sessions, shown),
    route({
      on: ['POST /admin/session'],
      operationId: 'beginAdminSession',
      credential: 'admin',
      tag,
      summary: 'Sign in to the dashboard. The admin token in the header is exchanged for a cookie',
      answer: SessionAnswer,
      headers: { 'set-cookie': 'The session: HttpOnly, SameSite=Strict, and Secure over HTTPS' },
      run: async ({ gateway, request, reply }) => {
        // A session must not begin another session. Otherwise a holder of a session could extend the access for ever.
        if (request.adminSession !== '') return refuse('invalid', 'the admin token is required to begin a session');
        const name = await sessions.begin(null, request.ip);
        if (name === null) return refuse('forbidden', 'the admin token was replaced meanwhile');
        void reply.header('set-cookie', sessionCookie(request, name, adminSessionMs));
        return done(shown({ user: null }, gateway));
      },
    }),
    signInRow({ demoServer, adminSessionMs }, sessions, shown),
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
        return done(shown(null, gateway));
      },
    }),
    tokenRow,
    ...(simulatedPhone === null ? [] : [scanRow(simulatedPhone)]),
  ];
};
