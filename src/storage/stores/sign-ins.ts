/** Sign-ins to the dashboard and one-time codes for passkeys, which count on every node. */
import type { PasskeyCodeRow, PasskeyCodeStore, SignInStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

// Sign-ins to the dashboard that count on every node.

/** The database's clock, in milliseconds: nodes have clocks of their own. */
const clock = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

export const signInStatements = {
  add: {
    name: 'sign-in-add',
    text: `insert into sign_in (key, admin, until) values ($1, $2, ${clock} + $3::bigint)`,
  },
  /** $1: how many are kept. */
  bound: {
    name: 'sign-in-bound',
    text: `delete from sign_in where until <= ${clock} or key in (select key from sign_in order by until desc offset $1::int)`,
  },
  left: { name: 'sign-in-left', text: `select (until - ${clock})::float8 as left from sign_in where key = $1 and admin = $2` },
  valid: {
    name: 'sign-in-valid',
    text: `select key from sign_in where key = any($1::text[]) and admin = $2 and until > ${clock}`,
  },
  end: { name: 'sign-in-end', text: 'delete from sign_in where key = $1' },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeSignInStore = (database: Database): SignInStore => ({
  async add({ key, admin }, ms, most) {
    await database.rows(signInStatements.add, [key, admin, ms]);
    await database.rows(signInStatements.bound, [most]);
  },
  async left({ key, admin }) {
    const [row] = await database.rows<{ left: number }>(signInStatements.left, [key, admin]);
    return Math.max(0, row?.left ?? 0);
  },
  valid: async (keys, admin) => (await database.rows<{ key: string }>(signInStatements.valid, [keys, admin])).map(({ key }) => key),
  end: async (key) => void (await database.rows(signInStatements.end, [key])),
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
