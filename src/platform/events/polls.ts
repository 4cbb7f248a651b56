/** Votes: they arrive encrypted under a secret that only the stored poll holds, and name options by their hash. */
import { createHash } from 'node:crypto';
import { decryptPollVote, proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import { addressesOf, type Directory } from '../directory.ts';
import { bare } from '../jid.ts';
import { unwrapped } from './message-kinds.ts';

/** Id of the poll that a vote answers; '' when the message is no vote. */
export const votedPoll = (source: WAMessage): string => unwrapped(source.message)?.pollUpdateMessage?.pollCreationMessageKey?.id ?? '';

const both = (...jids: readonly string[]): string[] => [...new Set(jids.filter((jid) => jid !== ''))];

/** Which of a person's two addresses went into the key depends on the sender's client: all are tried. */
const decrypted = (vote: proto.Message.IPollEncValue, poll: { id: string; secret: Uint8Array }, creators: string[], voters: string[]) => {
  for (const pollCreatorJid of creators) {
    for (const voterJid of voters) {
      try {
        return decryptPollVote(vote, { pollCreatorJid, voterJid, pollMsgId: poll.id, pollEncKey: poll.secret });
      } catch {
        // The wrong pair of addresses: the next one is tried.
        continue;
      }
    }
  }
  return null;
};

/** Names of the chosen options joined by a bar, '' when the vote was withdrawn or cannot be read. */
export const readVote = (source: WAMessage, stored: Message, directory: Directory): string => {
  const vote = unwrapped(source.message)?.pollUpdateMessage?.vote;
  if (!vote?.encPayload || !vote.encIv || stored.raw === null) return '';
  const message = proto.Message.decode(stored.raw);
  const secret = message.messageContextInfo?.messageSecret;
  const content = unwrapped(message);
  const poll =
    content?.pollCreationMessageV3 ?? content?.pollCreationMessageV2 ?? content?.pollCreationMessage ?? content?.pollCreationMessageV5;
  if (!secret || !poll) return '';
  const voter = source.key.fromMe
    ? directory.me
    : addressesOf(directory, source.key.participant || source.key.remoteJid, source.key.participantAlt, source.key.remoteJidAlt);
  const creators = stored.fromMe ? both(directory.me.pn, directory.me.lid) : both(stored.senderPn, stored.senderLid, bare(stored.sender));
  const opened = decrypted(vote, { id: stored.messageId, secret }, creators, both(voter.pn, voter.lid));
  const chosen = new Set((opened?.selectedOptions ?? []).map((hash) => Buffer.from(hash).toString('hex')));
  return (poll.options ?? [])
    .map((option) => option.optionName ?? '')
    .filter((name) => chosen.has(createHash('sha256').update(name).digest('hex')))
    .join('|');
};
