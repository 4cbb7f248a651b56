/** Users with their roles. Hashes of passwords and secrets of one-time codes are sealed. */
import type { Role, User } from '#actors/model.ts';
import type { UserRow, UserStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { asText, type Opener, userPlace } from '../vault/sealing.ts';

const fields = `id, name, role, code_secret is not null as "hasCode", created_at::float8 as "createdAt", last_sign_in_at::float8 as "lastSignInAt"`;
const secretFields = `${fields}, password, code_secret as "codeSecret", version`;

export const userStatements = {
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
  /** $2 role, $3 password and $4 secret of codes: null keeps the value. $5: the codes change. $6: the new version. $7: the expected version, or null. $8: the time step of a used code, or null. */
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
  /** $4: the time step of the one-time code, or null. Of two requests with one code, the second finds the step used. */
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
    opener.open(userPlace(row.id, kind), sealed, asText, { id: row.id, field: kind });
  const hash = open('password', password);
  const secret = codeSecret === null ? '' : open('code', codeSecret);
  return { ...row, password: hash ?? '', codeSecret: secret ?? '', readable: hash !== null && secret !== null };
};

export const makeUserStore = (database: Database, opener: Opener): UserStore => {
  const find = async (statement: Statement, key: string): Promise<UserRow | null> => {
    const [row] = await database.rows<Stored>(statement, [key]);
    return row === undefined ? null : opened(opener, row);
  };
  return {
    all: () => database.rows<User & { readonly role: Role }>(userStatements.all, []),
    byName: (name) => find(userStatements.byName, name),
    byId: (id) => find(userStatements.byId, id),
    async add({ id, name, role, password, version, createdAt }, most) {
      const sealed = opener.seal(userPlace(id, 'password'), password);
      const values = [id, name, role, sealed, version, createdAt, most];
      const [row] = await database.rows<{ readonly room: number; readonly put: number }>(userStatements.add, values);
      if (row?.put === 1) return 'added';
      return row?.room === 1 ? 'taken' : 'full';
    },
    async change(id, { role, password, codeSecret, codeStep }, version, expected) {
      const hash = password === undefined ? null : opener.seal(userPlace(id, 'password'), password);
      const secret = codeSecret === undefined || codeSecret === '' ? null : opener.seal(userPlace(id, 'code'), codeSecret);
      const values = [id, role ?? null, hash, secret, codeSecret !== undefined, version, expected ?? null, codeStep ?? null];
      return (await database.rows<User>(userStatements.change, values))[0] ?? null;
    },
    remove: async (id) => (await database.rows<User>(userStatements.remove, [id]))[0] ?? null,
    signedIn: async ({ id, version }, at, step) => (await database.rows(userStatements.signedIn, [id, version, at, step])).length === 1,
  };
};
