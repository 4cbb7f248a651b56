/** The type of the listed migrations, and migrations that run a list of statements. */
import { Migration } from '@mikro-orm/migrations';

export interface ListedMigration {
  readonly name: string;
  readonly class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
  /** Tables, columns (`table.column`) and constraints that the migration drops or makes stricter. The last release must not use them any more. */
  readonly contracts?: readonly string[];
}

/** Makes a migration that runs these statements in one transaction. */
export const step = (name: string, statements: readonly string[]): ListedMigration => ({
  name,
  class: class extends Migration {
    override up(): void {
      for (const statement of statements) this.addSql(statement);
    }
  },
});
