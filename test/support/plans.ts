/** Reads the generic plan of a statement, which the server uses for any values. */
import type { Database, Statement } from '#src/storage/postgres/database.ts';

export interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

/** Returns a node and all nodes below it. */
export const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

export type Plan = { readonly 'QUERY PLAN': readonly { readonly Plan: Node }[] };

/** Returns the nodes of the generic plan of a statement. */
export const planOf = async (database: Pick<Database, 'transaction'>, statement: Statement): Promise<readonly Node[]> =>
  database.transaction(async (runner) => {
    const ask = <T>(text: string): Promise<readonly T[]> => runner.rows<T>({ name: '', text }, []);
    await ask(`prepare asked as ${statement.text}`);
    const [types] = await ask<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = 'asked'`,
    );
    const nothing = Array.from({ length: types?.count ?? 0 }, () => 'null').join(', ');
    const [row] = await ask<Plan>(`explain (format json) execute asked${nothing && `(${nothing})`}`);
    await ask('deallocate asked');
    return nodesOf(row!['QUERY PLAN'][0]!.Plan);
  });
