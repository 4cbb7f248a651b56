/** Queries of stored definitions. The journal writes definitions. */
import type { DefinitionKind, InstanceId, Kept } from '../model.ts';

export interface DefinitionStore {
  /** Returns all definitions of one kind, in the order of their creation. */
  all<K extends DefinitionKind>(instance: InstanceId, of: K): Promise<readonly Kept<K>[]>;
}
