/** Encodes stanzas for the inbound log, checks texts that the library's encoding would change, and encrypts messages about a message. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import { refuse, type Result } from '#actors/model.ts';

/** The address of a person's device. The encoding has one byte for the device number, so two digits always fit. */
const device = /^\d+:\d{1,2}@(s\.whatsapp\.net|lid)$/;

/**
 * Returns true if a text survives the library's encoding. Measured with Baileys 7.0.0: a text with `@` is written as an address. `5:30@Bar` becomes
 * `5:30@s.whatsapp.net`, `a_b@c` becomes `a@c`, and `Shop@` cannot be decoded.
 */
export const isCarried = (text: string): boolean => {
  const at = text.indexOf('@');
  if (at < 0 || device.test(text)) return true;
  const server = text.slice(at + 1);
  return server !== '' && !/[:_]/.test(text.slice(0, at)) && isCarried(server);
};

/** Returns a refusal for a text that cannot be an attribute of a stanza; null for other texts. A text that cannot be decoded would end the connection. */
export const notCarried = (text: string): Result<never> | null =>
  isCarried(text) ? null : refuse('invalid', 'This text cannot be sent with its @: the platform would read it as an address');

const isFaithful = ({ attrs, content }: BinaryNode): boolean =>
  Object.values(attrs).every((value) => typeof value !== 'string' || isCarried(value)) &&
  (typeof content !== 'string' || isCarried(content)) &&
  (!Array.isArray(content) || content.every(isFaithful));

/** The first byte of V8's serialization. The library's encoding begins with 0. */
const serialized = 0xff;

/** Encodes a stanza. Uses the library's encoding if it changes no text, because earlier versions of the gateway can read only this encoding. */
export const encodeStanza = (node: BinaryNode): Uint8Array => (isFaithful(node) ? encodeBinaryNode(node) : serialize(node));

export const decodeStanza = async (stanza: Uint8Array): Promise<BinaryNode> =>
  stanza[0] === serialized ? (deserialize(stanza) as BinaryNode) : decodeBinaryNode(Buffer.from(stanza));

// A message that edits another message has a second layer of encryption inside the Signal encryption. Its key is derived from the secret of the edited message.

export interface SecretContext {
  /** The platform id of the message with the secret: the poll, the event or the edited message. */
  readonly messageId: string;
  readonly secret: Uint8Array;
  /** `author`: the author of the message with the secret. `writer`: the person who votes, answers or edits. Both are JIDs without a device. */
  readonly author: string;
  readonly writer: string;
}

export interface Sealed {
  readonly encPayload: Uint8Array;
  readonly encIv: Uint8Array;
}

type Purpose = 'Event Edit' | 'Message Edit';

const tagBytes = 16;

const keyOf = ({ messageId, secret, author, writer }: SecretContext, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, new Uint8Array(32), `${messageId}${author}${writer}${purpose}`, 32));

/** Encrypts with AES-256-GCM, without additional authenticated data. The tag is at the end. */
export const sealEdit = (plain: Uint8Array, purpose: Purpose, context: SecretContext): Sealed => {
  const encIv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(context, purpose), encIv);
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv };
};

/** Decrypts an edit. Returns null if the context is wrong, or if the payload is too short. */
export const openEdit = ({ encPayload, encIv }: Sealed, purpose: Purpose, context: SecretContext): Uint8Array | null => {
  if (encPayload.length <= tagBytes || encIv.length === 0) return null;
  const decipher = createDecipheriv('aes-256-gcm', keyOf(context, purpose), encIv);
  decipher.setAuthTag(encPayload.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(encPayload.subarray(0, -tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
};
