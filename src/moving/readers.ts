/** The table of the sources that can be imported: one reader a store. */
import type { Reader } from './session.ts';

export const readers: Readonly<Record<string, Reader>> = {};
