/**
 * Instances and webhooks carry the version in which they changed last, so that every node learns of changes by one look at an index. What a session at
 * work writes of itself (its epoch and its times) is no change.
 */
import { Migration } from '@mikro-orm/migrations';

const own = ['epoch', 'last_active_at', 'updated', 'changed', 'last_disconnect', 'last_disconnect_reason', 'last_disconnect_cause'];

/** The rest of a row, columns of later migrations among it. */
const rest = (row: string): string => `(to_jsonb(${row}) - array[${own.map((name) => `'${name}'`).join(', ')}])`;

const statements = [
  'create sequence change_version',
  `create function note_change() returns trigger language plpgsql as $$ begin new.changed = nextval('change_version'); return new; end $$`,
  ...['instance', 'webhook'].flatMap((table) => [
    `alter table ${table} add column changed bigint not null default '0'`,
    `create index ${table}_changed on ${table} (changed)`,
    `create trigger ${table}_made before insert on ${table} for each row execute function note_change()`,
    `create trigger ${table}_changed before update on ${table} for each row when (${rest('old')} is distinct from ${rest('new')})
      execute function note_change()`,
  ]),
];

export class Versions extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    for (const table of ['instance', 'webhook']) {
      this.addSql(`drop trigger ${table}_made on ${table}`);
      this.addSql(`drop trigger ${table}_changed on ${table}`);
      this.addSql(`alter table ${table} drop column changed`);
    }
    this.addSql('drop function note_change()');
    this.addSql('drop sequence change_version');
  }
}
