/** Questions about what is defined once for an instance: labels, quick replies, tags of leads. */
import type { DefinitionKind, Definitions, Kept } from '#actors/model.ts';
import type { DefinitionStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const definitionStatements = {
  all: {
    name: 'definition-all',
    text: `select value, created::float8 as created, updated::float8 as updated from definition
      where instance_id = $1 and kind = $2 order by created, id`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Row {
  readonly value: Definitions[DefinitionKind];
  readonly created: number;
  readonly updated: number;
}

export const makeDefinitionStore = (database: Database): DefinitionStore => ({
  async all<K extends DefinitionKind>(instance: string, of: K) {
    const rows = await database.rows<Row>(definitionStatements.all, [instance, of]);
    return rows.map(({ value, created, updated }) => ({ ...(value as Definitions[K]), created, updated }) satisfies Kept<K>);
  },
});
