/** Pictures, videos and documents above the text of a message or card, as clients write them. */
import type { Head } from '#actors/gateway.ts';

/** `source`: URL, data URL or base64; null for an empty one. */
export const headOf = (as: Head['as'], source = '', filename = ''): Head | null =>
  source.trim() === '' ? null : { as, file: { source, as, thumbnail: '', mimetype: '', filename: filename.trim() } };
