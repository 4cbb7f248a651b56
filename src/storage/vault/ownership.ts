/** Who may write what belongs to a session: the node whose epoch the instance carries. */
import { EpochLost } from '#actors/ports.ts';

/**
 * Locks the instance's row against a change of its epoch until the end of the statement: a write under the old epoch is then either seen
 * by the new owner or not done.
 */
export const owned = `owned as materialized (select id from instance where id = $1 and epoch = $2 for share)`;

export interface Owned {
  readonly owned: number;
}

export const checkOwned = (rows: readonly Owned[]): void => {
  if (rows[0]?.owned !== 1) throw new EpochLost('the instance belongs to another node, or is gone');
};
