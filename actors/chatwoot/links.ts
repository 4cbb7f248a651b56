/**
 * Maps message ids between Chatwoot and the platform. A message of an agent carries its conversation and its id in Chatwoot as `track_id`. A message
 * that the gateway posted carries the platform's id as its source id.
 */
import type { ChatwootMessage } from '../model.ts';

export const trackSource = 'chatwoot';

type Link = Pick<ChatwootMessage, 'conversationId' | 'id'>;

export const trackIdOf = ({ conversationId, id }: Link): string => `${conversationId}/${id}`;

/** Returns null if the text is no such id. */
export const linkOf = (trackId: string): Link | null => {
  const [, conversation = '', message = ''] = /^(\d{1,15})\/(\d{1,15})$/.exec(trackId) ?? [];
  return message === '' ? null : { conversationId: Number(conversation), id: Number(message) };
};

/** The progress of a message that failed or was deleted. A Chatwoot message with several parts has a separate row for its failure, see `failedKey`. */
export const failed = -1;

/** Returns the key of the row that notes the failure of a Chatwoot message. Keys of platform messages contain no colon. */
export const failedKey = (link: Link): string => `failed:${trackIdOf(link)}`;

/** Returns the key of the row that notes that an agent deleted a message. */
export const deletedKey = (link: Link): string => `deleted:${trackIdOf(link)}`;

const prefix = 'whatsapp:';

export const sourceIdOf = (key: string): string => prefix + key;

/** True if a gateway posted the message. */
export const isOwnSource = (sourceId: string): boolean => sourceId.startsWith(prefix);
