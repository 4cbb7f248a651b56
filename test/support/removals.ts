/** Runs the background work of removals as the gateway does. */
import type { RemovalStore } from '#actors/ports.ts';

/** Deletes all rows of removed instances and webhooks. Returns the number of batches. */
export const removeRows = async (removals: RemovalStore): Promise<number> => {
  let pieces = 0;
  for (const removal of await removals.pending()) while (await removals.removePiece(removal)) pieces += 1;
  return pieces;
};
