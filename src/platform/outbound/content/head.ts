/** Pictures, videos and documents above the text of a message or card: media without a message of their own. */
import { done, type Head, type MediaContent, type Result } from '#actors/model.ts';
import type { LiveConnection } from '../live-connection.ts';
import { mediaComposer } from './media.ts';
import type { HeadMessage } from './native-flow.ts';

const mediaOf = ({ as, file }: Head): MediaContent => ({ kind: 'media', as, file, caption: '', viewOnce: false });

/** Uploads the file; null for none. */
export const uploadedHead = async (head: Head | null, connection: LiveConnection, jid: string): Promise<Result<HeadMessage | null>> =>
  head === null ? done(null) : mediaComposer.content(mediaOf(head), connection, jid);

/** The same without a connection. */
export const draftHead = (head: Head | null): HeadMessage | null => (head === null ? null : mediaComposer.draft(mediaOf(head)));
