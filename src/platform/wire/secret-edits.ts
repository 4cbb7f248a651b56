/** The second encryption of messages about a message: under the secret of the first one, inside the Signal encryption. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface SecretContext {
  /** Platform id of the message that carries the secret. */
  readonly messageId: string;
  readonly secret: Uint8Array;
  /** Jids without device: of the author of that message, and of the author of the change. */
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

/** AES-256-GCM without further authenticated data; the tag stands at the end. */
export const sealEdit = (plain: Uint8Array, purpose: Purpose, context: SecretContext): Sealed => {
  const encIv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(context, purpose), encIv);
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv };
};

/** Null when it was sealed in another context. */
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
