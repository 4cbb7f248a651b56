/** Sign-ins to the dashboard that count on every node. */
import type { SignInStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

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
