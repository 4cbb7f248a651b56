/** One-time codes for passkeys: one row an instance, which every node reads. */
import type { PasskeyCodeRow, PasskeyCodeStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

/** The database's clock, in milliseconds: nodes have clocks of their own. */
const clock = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

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
