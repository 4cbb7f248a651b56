/** The request that sets a picture. */
import type { BinaryNode } from '@whiskeysockets/baileys';
import { personServer } from '../wire/jid.ts';

/** `target`: a group; null for the account itself. `jpeg` null takes the picture away. */
export const pictureQuery = (target: string | null, jpeg: Uint8Array | null): BinaryNode => ({
  tag: 'iq',
  attrs: { to: personServer, ...(target === null ? {} : { target }), xmlns: 'w:profile:picture', type: 'set' },
  ...(jpeg === null ? {} : { content: [{ tag: 'picture', attrs: { type: 'image' }, content: jpeg }] }),
});
