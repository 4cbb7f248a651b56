/** Runs the background work of removals as the gateway does. */
import type { RemovalStore } from '#actors/ports.ts';

/** Removes all rows of what was removed; resolves with the number of pieces. */
export const removeRows = async (removals: RemovalStore): Promise<number> => {
  let pieces = 0;
  for (const removal of await removals.pending()) while (await removals.removePiece(removal)) pieces += 1;
  return pieces;
};
