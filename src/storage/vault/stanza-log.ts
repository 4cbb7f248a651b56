/** The inbound log in the database: received stanzas, sealed, until a write of the vault names them as handled. */
import type { Vault } from '#src/platform/wire/vault.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import { openSealed, placeOf, type Place, type Sealer } from './sealing.ts';

export const stanzaStatements = {
  /** $3 $4 $5 numbers, time and stanzas. */
  log: {
    name: 'vault-log',
    text: `with ${owned},
      put as (
        insert into inbound (instance_id, seq, tries, at, sealed)
        select owned.id, fresh.seq, 0, $4, fresh.sealed from owned, unnest($3::bigint[], $5::bytea[]) as fresh (seq, sealed)
        on conflict (instance_id, seq) do nothing)
      select count(*)::int as owned from owned`,
  },
  tried: {
    name: 'vault-tried',
    text: `with ${owned},
      counted as (
        update inbound i set tries = i.tries + 1 from owned where i.instance_id = $1 and i.seq = any($3::bigint[]) and owned.id = i.instance_id)
      select count(*)::int as owned from owned`,
  },
  /** $2 tries after which a stanza stands aside, $3 the time before which such a stanza is removed. */
  logged: {
    name: 'vault-logged',
    text: `with old as (delete from inbound where instance_id = $1 and tries >= $2 and at < $3)
      select seq::float8 as seq, tries, case when tries < $2 then sealed end as sealed from inbound where instance_id = $1 order by inbound.seq`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface LogRow {
  readonly seq: number;
  readonly tries: number;
  readonly sealed: Buffer | null;
}

/** Milliseconds: 30 days. */
const asideKept = 30 * 86_400_000;

const place = (instance: string, seq: number): Place => placeOf('inbound', instance, '', String(seq));

export const makeStanzaLog = (database: Database, sealer: Sealer, now: () => number): Pick<Vault, 'log' | 'tried' | 'logged'> => ({
  async log(instance, epoch, stanzas) {
    const seqs = stanzas.map(({ seq }) => seq);
    const sealed = stanzas.map(({ seq, stanza }) => sealer.seal(place(instance, seq), stanza));
    checkOwned(await database.rows<Owned>(stanzaStatements.log, [instance, epoch, seqs, now(), sealed]));
  },
  async tried(instance, epoch, seqs) {
    checkOwned(await database.rows<Owned>(stanzaStatements.tried, [instance, epoch, seqs]));
  },
  async logged(instance, limit) {
    const rows = await database.rows<LogRow>(stanzaStatements.logged, [instance, limit, now() - asideKept]);
    const stanzas = rows.flatMap(({ seq, tries, sealed }) => {
      if (sealed === null) return [];
      return [{ seq, tries, stanza: openSealed(sealer, place(instance, seq), sealed) }];
    });
    return { stanzas, aside: rows.length - stanzas.length };
  },
});
