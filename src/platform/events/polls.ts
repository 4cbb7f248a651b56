/** Votes: they arrive encrypted under a secret that only the stored poll holds, and name options by their hash. */
import { createHash } from 'node:crypto';
import { decryptPollVote, type proto } from '@whiskeysockets/baileys';
import type { SecretContext } from '../wire/secret-edits.ts';

export const pollOf = (content: proto.IMessage): proto.Message.IPollCreationMessage | null =>
  content.pollCreationMessageV3 ?? content.pollCreationMessageV2 ?? content.pollCreationMessage ?? content.pollCreationMessageV5 ?? null;

/** Throws in the wrong context. Answers with the names of the chosen options joined by a bar, '' when the vote was withdrawn. */
export const openVote = (update: proto.Message.IPollUpdateMessage, content: proto.IMessage, context: SecretContext): string => {
  const { messageId: pollMsgId, secret: pollEncKey, author: pollCreatorJid, writer: voterJid } = context;
  const opened = decryptPollVote(update.vote ?? {}, { pollCreatorJid, voterJid, pollMsgId, pollEncKey });
  const chosen = new Set((opened.selectedOptions ?? []).map((hash) => Buffer.from(hash).toString('hex')));
  return (pollOf(content)?.options ?? [])
    .map((option) => option.optionName ?? '')
    .filter((name) => chosen.has(createHash('sha256').update(name).digest('hex')))
    .join('|');
};
