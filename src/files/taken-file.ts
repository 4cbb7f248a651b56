/** A file on this machine's disk that nobody keeps yet. */

export type { TakenFile } from '#actors/ports.ts';
