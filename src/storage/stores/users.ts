/** Stores users with their roles, sign-ins to the dashboard, one-time codes for passkeys, and the audit log. Secrets are sealed. */
import type { AuditEntry, AuditQuery, OpenSession, Role, SessionUser, User } from '#actors/model.ts';
import type { AuditStore, PasskeyCodeRow, PasskeyCodeStore, SignInStore, UserRow, UserStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { asText, type Opener, userSealedId } from '../vault/sealing.ts';

// Users with their roles. Password hashes and the secrets of one-time codes are sealed.

const fields = `id, name, role, code_secret is not null as "hasCode", created_at::float8 as "createdAt", last_sign_in_at::float8 as "lastSignInAt"`;
const secretFields = `${fields}, password, code_secret as "codeSecret", version`;

const userStatements = {
  all: { name: 'user-all', text: `select ${fields} from gateway_user order by name` },
  byName: { name: 'user-by-name', text: `select ${secretFields} from gateway_user where name = $1` },
  byId: { name: 'user-by-id', text: `select ${secretFields} from gateway_user where id = $1` },
  /** $7: the largest number of users. */
  add: {
    name: 'user-add',
    text: `with room as (select 1 from gateway_user having count(*) < $7::int),
      put as (
        insert into gateway_user (id, name, role, password, version, created_at)
        select $1::text, $2::text, $3::text, $4::bytea, $5::text, $6::bigint from room on conflict (name) do nothing returning 1)
      select (select count(*)::int from room) as room, (select count(*)::int from put) as put`,
  },
  /**
   * Changes a user, and ends all sign-ins of the user. $2: role, or null to keep the value. $3: the sealed hash of the password, or null to keep the value. $4:
   * the sealed secret of one-time codes, stored only if $5 is true. $6: the new version. $7: the expected version, or null. $8: the time step of a used code,
   * or null.
   */
  change: {
    name: 'user-change',
    text: `with changed as (
        update gateway_user set
          role = coalesce($2::text, role),
          password = coalesce($3::bytea, password),
          code_secret = case when $5::boolean then $4::bytea else code_secret end,
          code_step = greatest(code_step, $8::bigint),
          version = $6::text
        where id = $1 and ($7::text is null or version = $7::text)
        returning id, name, role, code_secret, created_at, last_sign_in_at),
      ended as (delete from sign_in using changed where sign_in.user_id = changed.id)
      select ${fields} from changed`,
  },
  remove: {
    name: 'user-remove',
    text: `with removed as (delete from gateway_user where id = $1 returning id, name, role, code_secret, created_at, last_sign_in_at),
      ended as (delete from sign_in using removed where sign_in.user_id = removed.id)
      select ${fields} from removed`,
  },
  /**
   * $4: the time step of the one-time code, or null. If two requests use the same code, the second request changes nothing, because the first one has stored
   * the step.
   */
  signedIn: {
    name: 'user-signed-in',
    text: `update gateway_user set last_sign_in_at = $3::bigint, code_step = coalesce($4::bigint, code_step)
      where id = $1 and version = $2 and ($4::bigint is null or code_step < $4::bigint) returning 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Stored extends User {
  readonly password: Buffer;
  readonly codeSecret: Buffer | null;
  readonly version: string;
}

const opened = (opener: Opener, { password, codeSecret, ...row }: Stored): UserRow => {
  const open = (kind: 'password' | 'code', sealed: Buffer): string | null =>
    opener.open(userSealedId(row.id, kind), sealed, asText, { id: row.id, field: kind });
  const hash = open('password', password);
  const secret = codeSecret === null ? '' : open('code', codeSecret);
  return { ...row, password: hash ?? '', codeSecret: secret ?? '', readable: hash !== null && secret !== null };
};

export const createUserStore = (database: Database, opener: Opener): UserStore => {
  const find = async (statement: Statement, key: string): Promise<UserRow | null> => {
    const [row] = await database.rows<Stored>(statement, [key]);
    return row === undefined ? null : opened(opener, row);
  };
  return {
    all: () => database.rows<User & { readonly role: Role }>(userStatements.all, []),
    byName: (name) => find(userStatements.byName, name),
    byId: (id) => find(userStatements.byId, id),
    async add({ id, name, role, password, version, createdAt }, most) {
      const sealed = opener.seal(userSealedId(id, 'password'), password);
      const values = [id, name, role, sealed, version, createdAt, most];
      const [row] = await database.rows<{ readonly room: number; readonly put: number }>(userStatements.add, values);
      if (row?.put === 1) return 'added';
      return row?.room === 1 ? 'taken' : 'full';
    },
    async change(id, { role, password, codeSecret, codeStep }, version, expected) {
      const hash = password === undefined ? null : opener.seal(userSealedId(id, 'password'), password);
      const secret = codeSecret === undefined || codeSecret === '' ? null : opener.seal(userSealedId(id, 'code'), codeSecret);
      const values = [id, role ?? null, hash, secret, codeSecret !== undefined, version, expected ?? null, codeStep ?? null];
      return (await database.rows<User>(userStatements.change, values))[0] ?? null;
    },
    remove: async (id) => (await database.rows<User>(userStatements.remove, [id]))[0] ?? null,
    signedIn: async ({ id, version }, at, step) => (await database.rows(userStatements.signedIn, [id, version, at, step])).length === 1,
  };
};

// The audit log. It is written in batches, read in pages, and limited by age and by number.

const entryFields = `id::float8 as id, at::float8 as at, actor, who, address, method, route, instance_id as instance, subject, status`;

/** The conditions of a page with their casts. Their order determines the numbers of the parameters. */
const conditions = {
  who: 'who = $%::text',
  actor: 'actor = $%::text',
  instance: 'instance_id = $%::text',
  from: 'at >= $%::bigint',
  to: 'at < $%::bigint',
  before: 'id < $%::bigint',
} as const satisfies Partial<Record<keyof AuditQuery, string>>;

type Filter = keyof typeof conditions;

const filters = Object.keys(conditions) as readonly Filter[];

/** Builds the query of a page with these filters. $1: limit. */
const pageStatement = (used: readonly Filter[]): Statement => {
  const where = used.map((name, at) => conditions[name].replace('%', String(at + 2)));
  return {
    name: `audit-page-${used.join('-')}`,
    text: `select ${entryFields} from audit_entry${where.length === 0 ? '' : ` where ${where.join(' and ')}`} order by audit_entry.id desc limit $1`,
  };
};

/** Returns SQL for at most $3 of the oldest entries of a kind. The newest $2 entries are left out. */
const beyond = (ofToken: boolean): string => `(select id from audit_entry where of_token = ${ofToken} and id <= (
        select id from audit_entry where of_token = ${ofToken} order by id desc offset $2::int limit 1) order by id limit $3::int)`;

export const auditStatements = {
  add: {
    name: 'audit-add',
    text: `insert into audit_entry (at, actor, of_token, who, address, method, route, instance_id, subject, status)
      select at, actor, actor in ('instanceToken', 'passkeyCode'), who, address, method, route, instance_id, subject, status
      from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[])
        with ordinality as note (at, actor, who, address, method, route, instance_id, subject, status, place) order by place`,
  },
  page: pageStatement([]),
  pageOfInstance: pageStatement(['instance', 'before']),
  /** $1: the oldest time that stays, in Unix milliseconds. $2: the largest number of entries of each kind that stay. $3: the largest number of deleted rows. */
  expire: {
    name: 'audit-expire',
    text: `with old as (
        (select id from audit_entry where at < $1::bigint order by at limit $3::int)
        union ${beyond(false)}
        union ${beyond(true)}
        limit $3::int)
      delete from audit_entry using old where audit_entry.id = old.id returning 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const createAuditStore = (database: Database): AuditStore => ({
  async add(notes) {
    const columns = [
      notes.map(({ at }) => at),
      notes.map(({ actor }) => actor),
      notes.map(({ who }) => who),
      notes.map(({ address }) => address),
      notes.map(({ method }) => method),
      notes.map(({ route }) => route),
      notes.map(({ instance }) => instance),
      notes.map(({ subject }) => subject),
      notes.map(({ status }) => status),
    ];
    await database.rows(auditStatements.add, columns);
  },
  async find(query) {
    const used = filters.filter((name) => query[name] !== undefined);
    const values = [query.limit + 1, ...used.map((name) => query[name])];
    const rows = await database.rows<AuditEntry>(pageStatement(used), values);
    const entries = rows.slice(0, query.limit);
    return { entries, next: rows.length > query.limit ? (entries.at(-1)?.id ?? null) : null };
  },
  expire: async (before, most, limit) => (await database.rows(auditStatements.expire, [before, most, limit])).length,
});

// Sign-ins to the dashboard. They are valid on every node.

/** The database's clock in Unix milliseconds. It is used because the clocks of nodes differ. */
const clock = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

/** One user may have one twentieth of all sign-ins. */
const userShare = 20;

/**
 * Returns the condition of a valid sign-in. `parameter` is the fingerprint of the admin token. The column `admin` contains this fingerprint, or the version of
 * the user.
 */
const validFor = (parameter: string): string =>
  `until > ${clock} and admin = case when user_id is null then ${parameter} else gateway_user.version end`;

const joined = 'sign_in left join gateway_user on gateway_user.id = sign_in.user_id';

export const signInStatements = {
  /** Adds a sign-in. The row of the user is locked, so a concurrent change of the user either ends the sign-in or prevents it. */
  add: {
    name: 'sign-in-add',
    text: `with owner as (select id from gateway_user where id = $4::text and version = $2::text for share)
      insert into sign_in (key, admin, until, user_id, address, since)
      select $1::text, $2::text, ${clock} + $3::bigint, $4::text, $5::text, ${clock} where $4::text is null or exists (select 1 from owner)
      returning 1`,
  },
  /** $1: the largest number of sign-ins. */
  bound: {
    name: 'sign-in-bound',
    text: `delete from sign_in where until <= ${clock} or key in (select key from sign_in order by until desc offset $1::int)`,
  },
  /** $1: user. $2: the largest number of sign-ins of this user. */
  boundOfUser: {
    name: 'sign-in-bound-of-user',
    text: `delete from sign_in where key in (select key from sign_in where user_id = $1::text order by until desc offset $2::int)`,
  },
  find: {
    name: 'sign-in-find',
    text: `select (until - ${clock})::float8 as left, user_id as id, name, role, code_secret is not null as "hasCode", version
      from ${joined} where key = $1 and ${validFor('$2')}`,
  },
  valid: {
    name: 'sign-in-valid',
    text: `select key from ${joined} where key = any($1::text[]) and ${validFor('$2')}`,
  },
  list: {
    name: 'sign-in-list',
    text: `select key, user_id as "userId", name, role, coalesce(address, '') as address, coalesce(since, 0)::float8 as since, until::float8 as until
      from ${joined} where ${validFor('$1')} order by since desc nulls last, key`,
  },
  end: { name: 'sign-in-end', text: 'delete from sign_in where key = $1 returning 1' },
} as const satisfies Readonly<Record<string, Statement>>;

type Found = { readonly left: number } & (SessionUser | { readonly id: null });

type Listed = Omit<OpenSession, 'id' | 'user'> & { readonly key: string; readonly userId: string | null } & Pick<
    SessionUser,
    'name' | 'role'
  >;

export const createSignInStore = (database: Database): SignInStore => ({
  async add({ key, admin, userId, address }, ms, most) {
    const added = await database.rows(signInStatements.add, [key, admin, ms, userId, address]);
    await database.rows(signInStatements.bound, [most]);
    if (userId !== null) await database.rows(signInStatements.boundOfUser, [userId, Math.ceil(most / userShare)]);
    return added.length === 1;
  },
  async find(key, admin) {
    const [row] = await database.rows<Found>(signInStatements.find, [key, admin]);
    if (row === undefined) return null;
    if (row.id === null) return { left: row.left, user: null };
    const { left, id, name, role, hasCode, version } = row;
    return { left, user: { id, name, role, hasCode, version } };
  },
  valid: async (keys, admin) => (await database.rows<{ key: string }>(signInStatements.valid, [keys, admin])).map(({ key }) => key),
  async list(admin) {
    const rows = await database.rows<Listed>(signInStatements.list, [admin]);
    return rows.map(({ key, userId, name, role, address, since, until }) => ({
      id: key,
      user: userId === null ? null : { id: userId, name, role },
      address,
      since,
      until,
    }));
  },
  end: async (key) => (await database.rows(signInStatements.end, [key])).length === 1,
});

// One-time codes for passkeys, with one row for each instance. They are valid on every node.

export const passkeyCodeStatements = {
  put: {
    name: 'passkey-code-put',
    text: `insert into passkey_code (instance_id, hash, used, until) values ($1, $2, false, ${clock} + $3::bigint)
      on conflict (instance_id) do update set hash = excluded.hash, used = false, until = excluded.until`,
  },
  find: {
    name: 'passkey-code-find',
    text: `select instance_id as "instanceId", used from passkey_code where hash = $1 and until > ${clock}`,
  },
  use: {
    name: 'passkey-code-use',
    text: `update passkey_code set hash = $2, used = true, until = ${clock} + $3::bigint
      where hash = $1 and not used and until > ${clock} returning 1`,
  },
  end: { name: 'passkey-code-end', text: 'delete from passkey_code where instance_id = $1' },
} as const satisfies Readonly<Record<string, Statement>>;

export const createPasskeyCodeStore = (database: Database): PasskeyCodeStore => ({
  put: async (instanceId, hash, ms) => void (await database.rows(passkeyCodeStatements.put, [instanceId, hash, ms])),
  find: async (hash) => (await database.rows<PasskeyCodeRow>(passkeyCodeStatements.find, [hash]))[0] ?? null,
  use: async (hash, ticket, ms) => (await database.rows(passkeyCodeStatements.use, [hash, ticket, ms])).length > 0,
  end: async (instanceId) => void (await database.rows(passkeyCodeStatements.end, [instanceId])),
});
