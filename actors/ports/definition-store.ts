/** Storage of what is defined once for an instance. The journal writes it. */
import type { DefinitionKind, InstanceId, Kept } from '../model.ts';

export interface DefinitionStore {
  /** All of one kind, in the order in which they were made. */
  all<K extends DefinitionKind>(instance: InstanceId, of: K): Promise<readonly Kept<K>[]>;
}
