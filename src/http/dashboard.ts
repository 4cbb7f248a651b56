/** Serves the dashboard at `/admin`: one document for all views, and its files. The document and the files contain no secrets, so all callers may load them. */
import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OpenSession, SessionUser, SignIns } from '#actors/gateway.ts';
import { extensionArchive } from '#src/web/extension.ts';
import { type PageFile, PageFiles } from '#src/web/files.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route is for unknown addresses. Such a route does not list allowed methods. */
    isFallback?: boolean;
  }
}

/** The addresses of views. The script of the page reads the part that `*` stands for. */
const views = [
  '/admin',
  '/admin/start',
  '/admin/cluster',
  '/admin/charts',
  '/admin/alerting',
  '/admin/cluster/*',
  '/admin/proxies-of-sessions',
  '/admin/global-webhook',
  '/admin/global-webhook/*',
  '/admin/disk-use',
  '/admin/moving',
  '/admin/people',
  '/admin/audit-log',
  '/admin/settings-in-force',
  '/admin/about',
  '/admin/sessions/*',
];

/** Any other address below `/admin`. A browser gets the page, and other clients get an error of the API. */
const unknown = '/admin/*';

interface Head {
  readonly policy: string;
  readonly caching: string;
}

const send = (request: FastifyRequest, reply: FastifyReply, { policy, caching }: Head, file: PageFile): FastifyReply => {
  void reply.headers({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': caching,
    vary: 'accept-encoding',
    etag: file.etag,
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  void reply.type(file.type);
  if (file.gzipped === null || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
};

/** Headers of a file. Its address contains the version, so a browser may cache the file for a year. A file that is opened as a page may run no code. */
const fileHead: Head = { policy: "default-src 'none'", caching: 'public, max-age=31536000, immutable' };

/** Installs the routes of the dashboard's files. */
export const addDashboard = async (app: FastifyInstance): Promise<void> => {
  const files = new PageFiles();
  const config = { credential: 'none', cors: false } as const;
  const schema = { hide: true };
  // The redirect is relative, so it also works behind a proxy that adds a path prefix.
  app.get('/', { schema, config }, (_request, reply) => reply.redirect('admin'));
  app.get('/admin/', { schema, config }, (_request, reply) => reply.redirect('../admin'));
  for (const url of [...views, unknown]) {
    app.get(url, { schema, config: { ...config, isFallback: url === unknown } }, async (request, reply) => {
      if (url === unknown && !/\btext\/html\b/.test(request.headers.accept ?? '')) return reply.callNotFound();
      const document = await files.document();
      // Browsers revalidate the page each time, so an upgrade is visible at once.
      return send(request, reply, { policy: document.policy, caching: 'no-cache' }, document);
    });
  }
  app.get('/admin/extension.zip', { schema, config }, async (_request, reply) =>
    reply
      .headers({ 'content-disposition': 'attachment; filename="dormouse-passkey.zip"', 'cache-control': 'no-cache' })
      .type('application/zip')
      .send(await extensionArchive()),
  );
  app.get<{ Params: { '*': string } }>('/admin/files/:version/*', { schema, config }, async (request, reply) => {
    const file = await files.file(request.params['*']);
    return file === null ? reply.callNotFound() : send(request, reply, fileHead, file);
  });
};

// Sessions of the dashboard. A cookie holds a random name in place of the admin token or the user's password, so no page has a secret.
// Sessions are in memory and in the database, so they survive a restart and are valid on every node.

/** The largest number of sessions in memory. A further session ends the oldest one. A gateway has far fewer people who are signed in at the same time. */
const most = 1_000;
const cookieName = 'dormouse_session';
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The owner of a session. `user` is null for an administrator with the admin token. */
export interface SessionOwner {
  readonly user: SessionUser | null;
}

interface Session extends SessionOwner {
  readonly address: string;
  /** The times of the sign-in and of the end, in Unix milliseconds. */
  readonly since: number;
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  /** Open streams and other answers, which end with the session. */
  readonly open: Set<ServerResponse>;
}

/** Hashes a name. Only hashes are stored, so a copy of the memory or the database contains no usable session. */
const keyOf = (name: string): string => createHash('sha256').update(name).digest('base64');

/** The sessions in memory. */
class KnownSessions {
  readonly #all = new Map<string, Session>();

  get all(): ReadonlyMap<string, Session> {
    return this.#all;
  }

  open(key: string, ms: number, { user, address }: Pick<Session, 'user' | 'address'>): void {
    if (this.#all.has(key)) return;
    const [oldest] = this.#all.keys();
    if (this.#all.size >= most && oldest !== undefined) this.end(oldest);
    const [since, timer] = [Date.now(), setTimeout(() => this.end(key), ms).unref()];
    this.#all.set(key, { user, address, since, until: since + ms, timer, open: new Set() });
  }

  end(key: string): boolean {
    const session = this.#all.get(key);
    if (session === undefined) return false;
    this.#all.delete(key);
    clearTimeout(session.timer);
    for (const response of session.open) response.destroy();
    return true;
  }

  endThose(isConcerned: (session: Session) => boolean): void {
    for (const [key, session] of this.#all) if (isConcerned(session)) this.end(key);
  }
}

export class AdminSessions {
  readonly #lifeMs: number;
  readonly #shared: SignIns | null;
  readonly #memory = new KnownSessions();
  /** Counts the ends of sessions. If the count changed during a query, the result is not used, because the found session may have ended. */
  #ends = 0;

  /**
   * `lifeMs` is the lifetime of a session, independent of its use. `shared` is the session store of all nodes. This process caches a stored session until a
   * node ends it.
   */
  constructor(lifeMs: number, shared: SignIns | null) {
    this.#lifeMs = lifeMs;
    this.#shared = shared;
    shared?.remembers({ keys: () => this.#memory.all.keys(), end: (key) => void this.#memory.end(key) });
  }

  /** Begins a session. Returns its name, which only the cookie contains from then on. Returns null if the user has changed since the authentication. */
  async begin(user: SessionUser | null, address: string): Promise<string | null> {
    const name = randomBytes(32).toString('base64url');
    const key = keyOf(name);
    const ends = this.#ends;
    // Without a database only the admin token has sessions, because a change of a user could not end the user's sessions.
    const isKept = this.#shared === null ? user === null : await this.#shared.add(key, this.#lifeMs, { user, address });
    if (!isKept) return null;
    // If a session ended meanwhile, the new session is not cached. The next request looks it up in the database.
    if (ends === this.#ends) this.#memory.open(key, this.#lifeMs, { user, address });
    return name;
  }

  /** Returns the owner of a session that this process knows; null for any other name. */
  known(name: string): SessionOwner | null {
    return name === '' ? null : (this.#memory.all.get(keyOf(name)) ?? null);
  }

  /** Returns the owner of a session; null for a name that is no session. Makes a query for a session that this process does not know. */
  async find(name: string): Promise<SessionOwner | null> {
    return name === '' ? null : (this.known(name) ?? this.#lookUp(keyOf(name)));
  }

  /** Returns the id under which `list` shows this session; null for ''. */
  idOf(name: string): string | null {
    return name === '' ? null : keyOf(name);
  }

  /** Ends one session, and the streams that were opened with it. */
  async end(name: string): Promise<void> {
    await this.endById(keyOf(name));
  }

  /** Ends the session with this id, as `list` names it. Returns false if there is none. */
  async endById(id: string): Promise<boolean> {
    const wasHere = this.#memory.end(id);
    const wasKept = (await this.#shared?.end(id)) ?? false;
    // Another request may have loaded the session meanwhile.
    this.#ends += 1;
    return this.#memory.end(id) || wasHere || wasKept;
  }

  /** Ends all sessions of the admin token in this process. Call this after the token was replaced. */
  endOfToken(): void {
    this.#endThose(({ user }) => user === null);
  }

  /** Ends all sessions of a user in this process. Call this after a change of the user. Other nodes end their sessions of the user within a second. */
  endOfUser(id: string): void {
    this.#endThose(({ user }) => user?.id === id);
  }

  async list(): Promise<readonly OpenSession[]> {
    if (this.#shared !== null) return this.#shared.list();
    return [...this.#memory.all].map(([id, { user, address, since, until }]) => ({ id, user, address, since, until })).toReversed();
  }

  /** Ties an answer to a session. The answer is cut when the session ends. */
  tie(name: string, response: ServerResponse): void {
    const answers = this.#memory.all.get(keyOf(name))?.open;
    // The session may have ended during the query.
    if (answers === undefined) return void response.destroy();
    if (response.closed) return;
    answers.add(response);
    response.once('close', () => answers.delete(response));
  }

  /** Looks a session up in the database, and caches it. */
  async #lookUp(key: string): Promise<SessionOwner | null> {
    for (;;) {
      const before = this.#ends;
      const kept = (await this.#shared?.find(key)) ?? null;
      if (before !== this.#ends) continue;
      if (kept !== null) this.#memory.open(key, kept.left, { user: kept.user, address: '' });
      return kept;
    }
  }

  #endThose(isConcerned: (owner: SessionOwner) => boolean): void {
    this.#ends += 1;
    this.#memory.endThose(isConcerned);
  }
}

/** The session cookie in the header `Cookie`. The name and the value have a fixed form, so no general parser is needed on every request. */
const cookiePattern = /(?:^|; ?)dormouse_session=([\w-]{43})(?:;|$)/;

/** Returns the name of the session from the request's cookie; '' if there is none. */
export const sessionNameOf = ({ headers }: FastifyRequest): string =>
  headers.cookie === undefined ? '' : (cookiePattern.exec(headers.cookie)?.[1] ?? '');

/** Returns the host of an origin; '' for an origin without a host, such as `file://`, which matches no request. */
const hostOf = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : '');

/**
 * Returns true if a request with a cookie comes from the dashboard's own page or from the browser's address bar. Browsers omit `Sec-Fetch-Site` on plain HTTP.
 * Browsers send `Origin` with every unsafe request.
 */
export const isOwnRequest = ({ headers, method, host }: FastifyRequest): boolean => {
  const [site, safe] = [headers['sec-fetch-site'], safeMethods.has(method)];
  if (site !== undefined) return site === 'same-origin' || (safe && site === 'none');
  const origin = hostOf(headers.origin ?? '');
  return safe || (origin !== '' && origin === host);
};

/**
 * Returns false for a request from a page of another site. Such a page could sign its visitor in as another user. Clients other than browsers send neither
 * `Sec-Fetch-Site` nor `Origin`.
 */
export const isOwnOrNoPage = (request: FastifyRequest): boolean =>
  (request.headers['sec-fetch-site'] === undefined && request.headers.origin === undefined) || isOwnRequest(request);

/** Returns `Secure` if the page was loaded over HTTPS. This also works behind a proxy that does not announce HTTPS. */
const isSecure = ({ protocol, headers }: FastifyRequest): boolean => protocol === 'https' || (headers.origin ?? '').startsWith('https://');

/** Returns the header that sets the session cookie. `lifeMs` 0 deletes the cookie. */
export const sessionCookie = (request: FastifyRequest, name: string, lifeMs: number): string =>
  `${cookieName}=${name}; Max-Age=${Math.floor(lifeMs / 1000)}; Path=/; HttpOnly; SameSite=Strict${isSecure(request) ? '; Secure' : ''}`;
