/**
 * How each side names the messages of the other. What an agent wrote names its conversation and its id in Chatwoot as `track_id`; what the gateway
 * posted in Chatwoot has the platform's id as its source id.
 */
import type { ChatwootMessage } from '../model.ts';

export const trackSource = 'chatwoot';

type Link = Pick<ChatwootMessage, 'conversationId' | 'id'>;

export const trackIdOf = ({ conversationId, id }: Link): string => `${conversationId}/${id}`;

/** Null when it is none. */
export const linkOf = (trackId: string): Link | null => {
  const [, conversation = '', message = ''] = /^(\d{1,15})\/(\d{1,15})$/.exec(trackId) ?? [];
  return message === '' ? null : { conversationId: Number(conversation), id: Number(message) };
};

/** The progress of a message that failed, or was deleted. A message of Chatwoot with several parts has a row of its own for that, see `failedKey`. */
export const failed = -1;

/** The key of the row that notes that a message of Chatwoot failed. Keys of messages of the platform have no colon. */
export const failedKey = (link: Link): string => `failed:${trackIdOf(link)}`;

/** The key of the row that notes that an agent deleted a message. */
export const deletedKey = (link: Link): string => `deleted:${trackIdOf(link)}`;

const prefix = 'whatsapp:';

export const sourceIdOf = (key: string): string => prefix + key;

/** The message was posted by a gateway. */
export const isOwnSource = (sourceId: string): boolean => sourceId.startsWith(prefix);
