/** The hook that checks the credential of every request. */
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type AuditActor, type Gateway, mayAct, type PasskeyLink, type Role, type SessionUser } from '#actors/gateway.ts';
import { BodyError } from './body-bounds.ts';
import { type AdminSessions, isOwnRequest, sessionNameOf } from './dashboard.ts';
import { type Credential, type CredentialName, credentials, demoText, type Denial, forged, noSuchInstance, roleText } from './route.ts';
import { sendRefusal } from './errors.ts';
import { type AuthenticationLimit, guessed, guessedSession, logGuesses, type NoteGuess, refuseTooMany, triesOf } from './rate-limit.ts';
import type { HttpOptions } from './options.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    credential?: CredentialName;
    /** True if the answer contains tokens even for a session of the dashboard. All other answers to such a session have empty tokens. */
    givesToken?: boolean;
    /** The least role of a user who calls the route by a session. */
    role?: Role;
  }
  interface FastifyRequest {
    /** The instance to which the credential admits the request; '' if there is none. */
    instanceId: string;
    /** The token of the instance in the request; '' if the route needs none, and for the dashboard. */
    instanceToken: string;
    /** The name of the dashboard session that admitted the request; '' for every other credential. */
    adminSession: string;
    /** The admitted caller; null if the route needs no credential, or if the credential was wrong. */
    caller: Caller | null;
    /** The code or ticket of a passkey link; null for every other credential. */
    passkeyLink: { readonly code: string; readonly used: boolean } | null;
  }
}

export type Caller = { readonly actor: 'user'; readonly user: SessionUser } | { readonly actor: Exclude<AuditActor, 'user'> };

/** Largest length of a code or ticket. In characters. */
const longestCode = 64;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the credential of a request. A header that is not empty takes precedence over the query. */
const tokenOf = (request: FastifyRequest, { name, where, bearer }: Credential, queryAllowed: boolean): string => {
  const given = where === 'header' ? textOf(request.headers[name]) : '';
  const header = given === '' && bearer ? (/^Bearer (\S+)$/i.exec(textOf(request.headers.authorization))?.[1] ?? '') : given;
  if (header !== '' || (where === 'header' && !queryAllowed)) return header;
  return textOf((request.query as Readonly<Record<string, unknown>>)[name]);
};

/** A refusal. After too many wrong credentials, `wait` has the seconds until the network of the request may try again. */
type Denied = Denial | { readonly wait: number };

const deny = (reply: FastifyReply, denied: Denied): FastifyReply =>
  'wait' in denied ? refuseTooMany(reply, denied.wait) : reply.code(denied.status).send({ error: denied.text });

/**
 * Makes the check of requests that carry a dashboard session in place of a token. The check returns true for an admitted request, false for a request without a
 * valid session, and otherwise the refusal.
 */
const sessionGuard = (gateway: Gateway, sessions: AdminSessions, limit: AuthenticationLimit, note: NoteGuess) => {
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<Denied | boolean> => {
    const name = sessionNameOf(request);
    const guess = await guessedSession(sessions, limit, request);
    if ('wait' in guess) {
      note(request, 'session');
      return guess;
    }
    const session = guess.found;
    if (session === null) return false;
    if (!isOwnRequest(request)) return forged;
    const { user } = session;
    request.caller = user === null ? { actor: 'adminToken' } : { actor: 'user', user };
    const { role: least = 'administrator' } = request.routeOptions.config;
    if (user !== null && !mayAct(user.role, least)) return { status: 403, text: roleText(user.role, least) };
    request.adminSession = name;
    // A stream ends with its session, and only a GET request can be a stream. Answers to other methods are not cut, because a request that ends its own session
    // must get its answer.
    if (request.method === 'GET') sessions.tie(name, reply.raw);
    return true;
  };

  return {
    admit,
    /** Admits a call to the instance that the header `x-instance` names, as if the call had the token of the instance. The page therefore needs no token. */
    async admitAsInstance(request: FastifyRequest, reply: FastifyReply): Promise<Denied | boolean> {
      const named = textOf(request.headers['x-instance']);
      const session = named !== '' && (await admit(request, reply));
      if (session !== true) return session;
      if (!(await gateway.exists(named))) return noSuchInstance;
      request.instanceId = named;
      return true;
    },
  };
};

/** Fields that are emptied in answers to the dashboard. Linking codes are emptied only for a viewer, who could link another phone with them. */
const secretFields: readonly string[] = ['token'];
const secretFieldsOfViewers: readonly string[] = [...secretFields, 'qrcode', 'paircode'];

/** Fields whose values may contain secret fields. `payload` is the body that was posted to a receiver. */
const outerFields: readonly string[] = ['instance', 'payload', 'status', 'passkey'];

/** Returns a copy of the answer with empty secret fields, also inside its `outerFields`. For viewers, `code` inside `passkey` is a linking code too. */
const without = (secrets: readonly string[], answer: unknown): unknown => {
  if (Array.isArray(answer)) return answer.map((one) => without(secrets, one));
  if (typeof answer !== 'object' || answer === null) return answer;
  const fields = answer as Readonly<Record<string, unknown>>;
  const inside = (name: string): readonly string[] =>
    name === 'passkey' && secrets === secretFieldsOfViewers ? [...secrets, 'code'] : secrets;
  return {
    ...answer,
    ...Object.fromEntries(secrets.filter((name) => Object.hasOwn(answer, name)).map((name) => [name, ''])),
    ...Object.fromEntries(
      outerFields.filter((name) => fields[name] !== undefined).map((name) => [name, without(inside(name), fields[name])]),
    ),
  };
};

/** Returns the answer of a route as a person of the dashboard may see it: without tokens, and for a viewer also without codes of linking. */
export const withoutSecrets = (forViewer: boolean, answer: unknown): unknown =>
  without(forViewer ? secretFieldsOfViewers : secretFields, answer);

const isViewer = ({ caller }: FastifyRequest): boolean => caller?.actor === 'user' && !mayAct(caller.user.role, 'operator');

/**
 * Finds the instance of a token. A missing token and a token in the cache do not count as tries. Any other token counts as a try until it is found. In a
 * cluster, the look-up of such a token is a database query. A new token is in the cache within a second.
 */
const instanceGuess =
  (gateway: Gateway, { instance }: AuthenticationLimit) =>
  (request: FastifyRequest, token: string): ReturnType<typeof guessed<string>> => {
    const known = token === '' ? null : gateway.authenticate(token);
    if (known !== null || token === '') return Promise.resolve({ found: known });
    return guessed(instance, request, () => gateway.lookUp(token));
  };

/** Largest number of wrong link codes of one network within a minute. Codes are short, so without this limit they could be guessed. */
const wrongCodes = 20;

/** Makes the check of requests that carry a one-time code of an account's owner. */
const linkGuard = (gateway: Gateway, note: NoteGuess) => {
  const tries = triesOf(wrongCodes);
  const linkOf = async (code: string): Promise<PasskeyLink | null> => {
    const link = code.length > longestCode ? null : await gateway.passkeyLink(code);
    return link !== null && (await gateway.exists(link.id)) ? link : null;
  };
  return async (request: FastifyRequest, reply: FastifyReply, credential: Credential): Promise<FastifyReply | undefined> => {
    const code = tokenOf(request, credential, false);
    if (code === '') return deny(reply, credential.missing);
    const guess = await guessed(tries, request, () => linkOf(code));
    if (!('found' in guess) || guess.found === null) note(request, 'passkeyCode');
    if ('wait' in guess) return refuseTooMany(reply, guess.wait);
    if (guess.found === null) return deny(reply, credential.wrong);
    request.instanceId = guess.found.id;
    request.passkeyLink = { code, used: guess.found.used };
    request.caller = { actor: 'passkeyCode' };
    return undefined;
  };
};

/**
 * Returns the check that the credential of an admitted request is still valid. A client may send its body slowly, and the credential may become invalid
 * meanwhile. A valid credential is usually found in memory.
 */
const recheckOf =
  (gateway: Gateway, sessions: AdminSessions, allowQueryTokens: boolean) =>
  async (request: FastifyRequest, credential: Credential): Promise<Denial | null> => {
    if (request.adminSession !== '') return (await sessions.find(request.adminSession)) === null ? credential.missing : null;
    if (credential.name === 'admintoken') {
      return gateway.isAdmin(tokenOf(request, credential, allowQueryTokens)) ? null : credential.wrong;
    }
    if (request.passkeyLink !== null) {
      // Meanwhile the code may have been exchanged for a ticket, or may have ended together with the linking.
      const link = await gateway.passkeyLink(request.passkeyLink.code);
      return link?.id === request.instanceId && link.used === request.passkeyLink.used ? null : credential.wrong;
    }
    if (request.instanceToken === '') return null;
    const id = gateway.authenticate(request.instanceToken) ?? (await gateway.lookUp(request.instanceToken));
    return id === request.instanceId ? null : credential.wrong;
  };

/** Makes the check of requests that carry the admin token, or a session of the dashboard. The check returns undefined for a request that it admits. */
const adminGuard = (
  gateway: Gateway,
  { allowQueryTokens, demoServer }: HttpOptions,
  limit: AuthenticationLimit,
  admit: ReturnType<typeof sessionGuard>['admit'],
  note: NoteGuess,
) => {
  return async (request: FastifyRequest, reply: FastifyReply, credential: Credential): Promise<FastifyReply | undefined> => {
    if (demoServer) return deny(reply, { status: 403, text: demoText });
    const token = tokenOf(request, credential, allowQueryTokens);
    const session = token === '' && (await admit(request, reply));
    if (session !== false) return session === true ? undefined : deny(reply, session);
    if (token === '') return deny(reply, credential.missing);
    const wait = limit.admin.take(request);
    if (wait === null && gateway.isAdmin(token)) {
      limit.admin.giveBack(request);
      request.caller = { actor: 'adminToken' };
      return undefined;
    }
    note(request, 'admin');
    return deny(reply, wait === null ? credential.wrong : { wait });
  };
};

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** Yields the bytes of a body that its route reads as a stream. Throws at the end of the body if the credential is no longer valid. */
async function* checkedAtEnd(body: AsyncIterable<Uint8Array>, check: () => Promise<Denial | null>): AsyncIterable<Uint8Array> {
  yield* body;
  const denial = await check();
  if (denial !== null) throw new BodyError(denial.status, denial.text);
}

const decorateRequests = (app: FastifyInstance): void => {
  for (const name of ['instanceId', 'instanceToken', 'adminSession']) app.decorateRequest(name, '');
  app.decorateRequest('passkeyLink', null);
  app.decorateRequest('caller', null);
};

/** Refuses to start if a route has no credential, because such a route would be open to all callers. */
const refuseOpenRoutes = (app: FastifyInstance): void => {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (options) => void routes.push(options));
  app.addHook('onReady', (ready) => {
    const open = routes.find(({ config }) => config?.credential === undefined);
    ready(open && new Error(`the route ${String(open.method)} ${open.url} names no credential`));
  });
};

/** Installs the check, which runs before any byte of the body is read. */
export const guardRoutes = (
  app: FastifyInstance,
  gateway: Gateway,
  options: HttpOptions,
  limit: AuthenticationLimit,
  sessions: AdminSessions,
): void => {
  const { allowQueryTokens, log } = options;
  decorateRequests(app);

  // The dashboard authenticates its calls by its session, so it needs no tokens. A faulty page cannot leak a token that it does not have. Only routes with
  // `givesToken` show tokens.
  app.addHook('preSerialization', (request, _reply, answer, next) =>
    next(
      null,
      request.adminSession === '' || request.routeOptions.config.givesToken === true ? answer : withoutSecrets(isViewer(request), answer),
    ),
  );

  const note = logGuesses(app, log);
  const { admit, admitAsInstance } = sessionGuard(gateway, sessions, limit, note);
  const admitLink = linkGuard(gateway, note);
  const guessInstance = instanceGuess(gateway, limit);

  const admitAdmin = adminGuard(gateway, options, limit, admit, note);
  const credentialOf = ({ is404, routeOptions }: FastifyRequest): Credential | null =>
    is404 ? null : credentials[routeOptions.config.credential as CredentialName];
  const recheck = recheckOf(gateway, sessions, allowQueryTokens);

  refuseOpenRoutes(app);
  app.addHook('preHandler', async (request, reply) => {
    const credential = request.caller === null ? null : credentialOf(request);
    if (credential === null) return undefined;
    const denial = await recheck(request, credential);
    if (isStream(request.body)) request.body = checkedAtEnd(request.body, () => recheck(request, credential));
    return denial === null ? undefined : deny(reply, denial);
  });
  app.addHook('onRequest', async (request, reply) => {
    const credential = credentialOf(request);
    if (credential === null) return undefined;
    if (credential.name === 'admintoken') return admitAdmin(request, reply, credential);
    if (credential.name === 'passkey-code') return admitLink(request, reply, credential);
    const token = tokenOf(request, credential, allowQueryTokens);
    const session = token === '' && (await admitAsInstance(request, reply));
    if (session !== false) return session === true ? undefined : deny(reply, session);
    const guess = await guessInstance(request, token);
    if (token !== '' && (!('found' in guess) || guess.found === null)) note(request, 'instance');
    if ('wait' in guess) return refuseTooMany(reply, guess.wait);
    if (guess.found === null) return deny(reply, token === '' ? credential.missing : credential.wrong);
    request.instanceId = guess.found;
    request.instanceToken = token;
    request.caller = { actor: 'instanceToken' };
    return undefined;
  });
};

// Sheds load before the event loop stalls: answers 503 with `Retry-After` while the delay of the event loop, averaged over three seconds, exceeds the limit.
// Rows with `relieves` are always answered, because they reduce the load or show its cause.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route is answered also while the server is overloaded. */
    relieves?: boolean;
  }
}

/**
 * The period in milliseconds over which delays are averaged, and after which a client may retry. With this period one long pause, such as the
 * start, is not an overload.
 */
const sampleInterval = 3_000;

export const refuseOverload = async (app: FastifyInstance, { overloadLagMs, overloadSampleMs }: HttpOptions): Promise<void> => {
  await app.register(underPressure, {
    maxEventLoopDelay: overloadLagMs,
    sampleInterval: overloadSampleMs ?? sampleInterval,
    exposeStatusRoute: false,
    // The request passes if this handler sends no answer.
    pressureHandler: (request, reply) => {
      if (request.routeOptions.config.relieves === true) return;
      sendRefusal(reply, {
        reason: 'unavailable',
        message: 'the server is overloaded: try again later',
        retryAfter: sampleInterval / 1_000,
      });
    },
  });
};
