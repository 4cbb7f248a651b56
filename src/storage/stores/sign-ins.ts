/** Sign-ins to the dashboard and one-time codes for passkeys, which count on every node. */
import type { OpenSession, SessionUser } from '#actors/model.ts';
import type { PasskeyCodeRow, PasskeyCodeStore, SignInStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

// Sign-ins to the dashboard that count on every node.

/** The database's clock, in milliseconds: nodes have clocks of their own. */
const clock = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

/** The share of all sign-ins that one user may have. */
const userShare = 20;

/** `admin` is the fingerprint of the token for a sign-in with it, and the version of the user for all others. */
const validFor = (parameter: string): string =>
  `until > ${clock} and admin = case when user_id is null then ${parameter} else gateway_user.version end`;

const joined = 'sign_in left join gateway_user on gateway_user.id = sign_in.user_id';

export const signInStatements = {
  /** The row of the user is locked, so that a change of the user ends this sign-in, or keeps it from beginning. */
  add: {
    name: 'sign-in-add',
    text: `with owner as (select id from gateway_user where id = $4::text and version = $2::text for share)
      insert into sign_in (key, admin, until, user_id, address, since)
      select $1::text, $2::text, ${clock} + $3::bigint, $4::text, $5::text, ${clock} where $4::text is null or exists (select 1 from owner)
      returning 1`,
  },
  /** $1: how many are kept. */
  bound: {
    name: 'sign-in-bound',
    text: `delete from sign_in where until <= ${clock} or key in (select key from sign_in order by until desc offset $1::int)`,
  },
  /** $2: how many of the user $1 are kept. */
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

export const makeSignInStore = (database: Database): SignInStore => ({
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

// One-time codes for passkeys: one row an instance, which every node reads.

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

export const makePasskeyCodeStore = (database: Database): PasskeyCodeStore => ({
  put: async (instanceId, hash, ms) => void (await database.rows(passkeyCodeStatements.put, [instanceId, hash, ms])),
  find: async (hash) => (await database.rows<PasskeyCodeRow>(passkeyCodeStatements.find, [hash]))[0] ?? null,
  use: async (hash, ticket, ms) => (await database.rows(passkeyCodeStatements.use, [hash, ticket, ms])).length > 0,
  end: async (instanceId) => void (await database.rows(passkeyCodeStatements.end, [instanceId])),
});
