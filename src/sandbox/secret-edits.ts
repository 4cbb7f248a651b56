/** Edits that travel encrypted under the secret of the message that they change, inside the Signal encryption. */
import { hkdfSync } from 'node:crypto';
import { aesDecryptGCM, aesEncryptGCM, proto } from '@whiskeysockets/baileys';

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/** Jids are those of people, without device. */
export interface EditContext {
  /** Id of the message that is changed. */
  readonly messageId: string;
  readonly secret: Uint8Array;
  readonly author: string;
  readonly editor: string;
}

const none = Buffer.alloc(0);

const keyOf = ({ messageId, secret, author, editor }: EditContext): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, none, `${messageId}${author}${editor}Message Edit`, 32));

export const sealEdit = (edit: proto.IMessage, context: EditContext, iv: Uint8Array): proto.Message.ISecretEncryptedMessage => ({
  encPayload: aesEncryptGCM(proto.Message.encode(edit).finish(), keyOf(context), iv, none),
  encIv: iv,
  secretEncType: SecretEncType.MESSAGE_EDIT,
});

/** `undefined` when no context opens the edit: the editor's app may have used a number or a LID for either jid. */
export const openEdit = (sealed: proto.Message.ISecretEncryptedMessage, contexts: readonly EditContext[]): proto.IMessage | undefined => {
  const { encPayload, encIv } = sealed;
  if (!encPayload || !encIv) return undefined;
  for (const context of contexts) {
    try {
      return proto.Message.decode(aesDecryptGCM(encPayload, keyOf(context), encIv, none));
    } catch {
      // Other jids: the next context is tried.
      continue;
    }
  }
  return undefined;
};
