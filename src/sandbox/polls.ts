/** Encryption of poll votes: a second layer under the poll's secret, inside the Signal encryption. */
import { createHash, hkdfSync } from 'node:crypto';
import { aesDecryptGCM, aesEncryptGCM, decryptPollVote, hmacSign, proto } from '@whiskeysockets/baileys';

export interface PollContext {
  readonly pollId: string;
  /** Jid of who made the poll, without device. */
  readonly creator: string;
  readonly voter: string;
  readonly secret: Uint8Array;
}

const hashOption = (option: string): Buffer => createHash('sha256').update(option).digest();

export function encryptVote(
  options: readonly string[],
  { pollId, creator, voter, secret }: PollContext,
  iv: Uint8Array,
): proto.Message.IPollEncValue {
  const usage = Buffer.concat([Buffer.from(`${pollId}${creator}${voter}Poll Vote`), Buffer.from([1])]);
  const key = hmacSign(usage, hmacSign(secret, new Uint8Array(32)));
  const vote = proto.Message.PollVoteMessage.encode({ selectedOptions: options.map(hashOption) }).finish();
  return { encPayload: aesEncryptGCM(vote, key, iv, Buffer.from(`${pollId}\u0000${voter}`)), encIv: iv };
}

/** The names of the chosen options; `undefined` when no context decrypts the vote. */
export function decryptVote(
  vote: proto.Message.IPollEncValue,
  poll: proto.Message.IPollCreationMessage,
  contexts: readonly PollContext[],
): string[] | undefined {
  const names = new Map((poll.options ?? []).map(({ optionName }) => [hashOption(optionName ?? '').toString('hex'), optionName ?? '']));
  for (const { pollId, creator, voter, secret } of contexts) {
    try {
      const opened = decryptPollVote(vote, { pollCreatorJid: creator, pollMsgId: pollId, pollEncKey: secret, voterJid: voter });
      return (opened.selectedOptions ?? []).map((hash) => names.get(Buffer.from(hash).toString('hex')) ?? 'unknown option');
    } catch {
      // The voter used other jids (number or LID) for voter and creator. The next context is tried.
      continue;
    }
  }
  return undefined;
}

// Edits that travel encrypted under the secret of the message that they change, inside the Signal encryption.

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
