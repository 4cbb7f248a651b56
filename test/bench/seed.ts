/** Inserts encrypted instances into the database of a stopped gateway, because the creation of 10,000 instances over HTTP would take minutes. */
import { join } from 'node:path';
import { initAuthCreds } from '@whiskeysockets/baileys';
import { encryptionKey } from '#config/secrets.ts';
import { encodeCredentials } from '#src/platform/keys/key-codec.ts';
import type { Database, Statement } from '#src/storage/postgres/database.ts';
import { createSealer, sealedIdOf, tokenHash, type Sealer } from '#src/storage/vault/sealing.ts';
import { numberOf } from './bench.ts';
import { withDatabase } from './fill.ts';

/** The number of rows of one statement. */
const group = 2_000;

const instances: Statement = {
  name: 'seed-instances',
  text: `insert into instance (id, name, token_hash, token, wanted, epoch, owner, jid, lid, profile_name, profile_pic_url, is_business, platform,
      system_name, last_disconnect, last_disconnect_reason, last_disconnect_cause, admin_field01, admin_field02, ai_apikey, chatbot_enabled,
      chatbot_ignore_groups, chatbot_stop_conversation, chatbot_stop_minutes, chatbot_stop_when_you_send_msg, fields_map, last_active_at,
      created, updated)
    select id, 'bench ' || id, token_hash, token, $1, 1, owner, jid, lid, case when jid = '' then '' else 'Bench' end, '', false,
      case when jid = '' then '' else 'android' end, '', null, '', '', '', '', ai_apikey, false, false, '', 0, 0, null, $2, $2, $2
    from unnest($3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::text[], $8::text[], $9::text[])
      as fresh (id, token_hash, token, ai_apikey, owner, jid, lid)`,
};
const credentials: Statement = {
  name: 'seed-credentials',
  text: `insert into credential (instance_id, sealed) select * from unnest($1::text[], $2::bytea[])`,
};

export type Registered = 'unpaired' | 'hibernated';

const idOf = (n: number): string => `r${n.toString(16).padStart(14, '0')}`;
export const tokenOf = (n: number): string => `bench-token-${String(n).padStart(8, '0')}-0123456789abcdef`;

const insertGroup = async (database: Database, sealer: Sealer, ns: readonly number[], kind: Registered, creds: string): Promise<void> => {
  const ids = ns.map(idOf);
  const paired = (text: (n: number) => string): readonly string[] => ns.map((n) => (kind === 'hibernated' ? text(n) : ''));
  await database.rows(instances, [
    kind === 'hibernated' ? 'asleep' : 'offline',
    Date.now(),
    ids,
    ns.map((n) => tokenHash(tokenOf(n))),
    ns.map((n) => sealer.seal(sealedIdOf('instance', idOf(n), 'token'), tokenOf(n))),
    ids.map((id) => sealer.seal(sealedIdOf('instance', id, 'ai_apikey'), '')),
    paired((n) => numberOf(3, n)),
    paired((n) => `${numberOf(3, n)}:1@s.whatsapp.net`),
    paired((n) => `1${String(n).padStart(14, '0')}:1@lid`),
  ]);
  if (kind === 'hibernated') await database.rows(credentials, [ids, ids.map((id) => sealer.seal(sealedIdOf('credential', id), creds))]);
};

/**
 * Registers instances in a folder where a gateway has run, so that the tables and the key exist. Hibernated instances get credentials that are never used.
 */
export const register = async (folder: string, count: number, kind: Registered): Promise<void> => {
  const dataDir = join(folder, 'data');
  const sealer = createSealer(encryptionKey({ encryptionKey: null, dataDir }));
  const creds = encodeCredentials({
    ...initAuthCreds(),
    registered: true,
    me: { id: `${numberOf(3, 0)}:1@s.whatsapp.net`, name: 'Bench' },
  });
  await withDatabase(folder, async (database) => {
    for (let from = 0; from < count; from += group) {
      const ns = Array.from({ length: Math.min(group, count - from) }, (_, n) => from + n);
      await insertGroup(database, sealer, ns, kind, creds);
    }
    // A database in production has statistics for its planner, too.
    await database.rows({ name: '', text: 'analyze' }, []);
  });
};
