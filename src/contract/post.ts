/** Posts of channels as lists of them spell them, and how calls name a channel. */
import type { ChangedPost, ListedPost } from '#actors/model.ts';
import { contentView } from './content.ts';

/** Makes the view of a channel post. A value that the platform did not send is 0 or ''. `timestamp` and `message` are then omitted. */
export const postView = ({ serverId, messageId, type, at, views, reactions, content }: ListedPost) => ({
  serverid: serverId,
  messageid: messageId,
  type,
  ...(at > 0 ? { timestamp: new Date(at).toISOString() } : {}),
  viewsCount: views ?? 0,
  reactionCounts: reactions ?? {},
  ...(content === null ? {} : { message: contentView(content) as Readonly<Record<string, unknown>> }),
});

export const changedPostView = ({ target, messageId, serverId }: ChangedPost) => ({
  jid: target.channel,
  targetmessageid: target.messageId,
  targetserverid: target.serverId,
  messageid: messageId,
  serverid: serverId,
});

/** Seconds as clients of the interface read them: `5m0s`, `1h0m0s`, `45s`. */
export const durationText = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
};
