/** The limits of channel posts in the platform's apps: texts, polls, and files that are neither round videos nor view-once. */
import { isChannelId, type MediaKind, type Send, type SendContent } from '../model.ts';

const taken: ReadonlySet<SendContent['kind']> = new Set(['text', 'poll', 'media']);

/** The platform's web clients upload no other kinds for channels. */
const kinds: ReadonlySet<MediaKind> = new Set(['image', 'video', 'videoplay', 'audio', 'ptt', 'myaudio', 'document', 'sticker']);

const sentence = `channels take texts, polls and media (${[...kinds].join(', ')})`;

/** Returns a sentence for the sender; null if the message is valid or does not go to a channel. */
export const channelProblem = ({ number, content, replyTo, mentions }: Send): string | null => {
  if (!isChannelId(number.trim())) return null;
  if (!taken.has(content.kind)) return sentence;
  if (content.kind === 'media' && !kinds.has(content.as)) return sentence;
  if (content.kind === 'media' && content.viewOnce) return 'viewOnce is not possible in channels: followers can open a post again';
  if (replyTo !== '') return 'replyid is not possible in channels: posts do not quote messages';
  return mentions.length > 0 ? 'mentions are not possible in channels' : null;
};
