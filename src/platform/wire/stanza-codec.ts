/** Stanzas as the inbound log keeps them, and which texts the library's encoding of stanzas can carry. */
import { deserialize, serialize } from 'node:v8';
import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import { refuse, type Result } from '#actors/model.ts';

/** The address of a person's device. The device number is one byte. */
const device = /^\d+:\d{1,2}@(s\.whatsapp\.net|lid)$/;

/**
 * Returns true if a text survives the library's encoding. Measured with 7.0.0: a text with `@` is written as an address. So `5:30@Bar` becomes
 * `5:30@s.whatsapp.net`, `a_b@c` becomes `a@c`, and `Shop@` cannot be decoded.
 */
export const isCarried = (text: string): boolean => {
  const at = text.indexOf('@');
  if (at < 0 || device.test(text)) return true;
  const server = text.slice(at + 1);
  return server !== '' && !/[:_]/.test(text.slice(0, at)) && isCarried(server);
};

/** Returns why a text cannot be an attribute of a stanza; null if it can. A text that cannot be decoded would end the connection. */
export const notCarried = (text: string): Result<never> | null =>
  isCarried(text) ? null : refuse('invalid', 'This text cannot be sent with its @: the platform would read it as an address');

const isFaithful = ({ attrs, content }: BinaryNode): boolean =>
  Object.values(attrs).every((value) => typeof value !== 'string' || isCarried(value)) &&
  (typeof content !== 'string' || isCarried(content)) &&
  (!Array.isArray(content) || content.every(isFaithful));

/** First byte of what V8 serializes; the library's encoding begins with 0. */
const serialized = 0xff;

/** The library's encoding, which earlier versions read, wherever that is faithful: a sender may have any name. */
export const encodeStanza = (node: BinaryNode): Uint8Array => (isFaithful(node) ? encodeBinaryNode(node) : serialize(node));

export const decodeStanza = async (stanza: Uint8Array): Promise<BinaryNode> =>
  stanza[0] === serialized ? (deserialize(stanza) as BinaryNode) : decodeBinaryNode(Buffer.from(stanza));
