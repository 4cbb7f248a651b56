/**
 * Sends channel posts, and their edits, deletions and reactions. The library is not used, because it sends changes in the form for chats, which the
 * platform refuses in channels. It also omits the name of an uploaded file, and phones then do not show the file.
 */
import { notCarried } from '../wire/stanza-codec.ts';
import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { refuse } from '#actors/model.ts';
import type { LiveConnection } from './live-connection.ts';
import { closeOf, noAdmin, noChannel, notSent, outcomeOfError, refused } from '../wire/outcomes.ts';
import { stanzaKindOf, stanzaOf } from './stanza.ts';
import type { Transmission } from './transmissions.ts';

/** The values of the attribute `edit`. */
const edits = { text: '3', deletion: '8', noReaction: '7' } as const;

interface Stanza {
  readonly channel: string;
  readonly messageId: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content: BinaryNode[];
}

/** Writes a stanza and waits for its acknowledgement. Never rejects. */
const write = (connection: LiveConnection, { channel, messageId, attrs, content }: Stanza): Promise<Transmission> => {
  const { transmissions, sock } = connection;
  if (transmissions.closed) return Promise.resolve(notSent);
  // Only one change of a post runs at a time. A change has the id of the post, so the acknowledgements of two changes could not be distinguished.
  if (transmissions.isWaiting(messageId)) return Promise.resolve(refuse('conflict', 'another change of this post is under way'));
  const answer = transmissions.wait(messageId);
  const failure = (error: unknown): Transmission => outcomeOfError(error, sock.ws.isOpen) ?? refused(null, closeOf(error).message);
  sock.sendNode({ tag: 'message', attrs: { to: channel, id: messageId, ...attrs }, content }).then(
    () => transmissions.written(messageId),
    (error: unknown) => transmissions.failed(messageId, failure(error)),
  );
  return answer;
};

interface OutgoingPost {
  readonly channel: string;
  readonly messageId: string;
  readonly content: proto.IMessage;
  /** The platform's name for the uploaded file; '' without a file. */
  readonly mediaId: string;
}

const postStanza = ({ channel, messageId, content, mediaId }: OutgoingPost, more: Readonly<Record<string, string>> = {}): Stanza => {
  const { type, enc } = stanzaKindOf(content);
  const { mediatype } = enc;
  const attrs = { type, ...(mediaId === '' ? {} : { media_id: mediaId }), ...more };
  const plaintext: BinaryNode = {
    tag: 'plaintext',
    attrs: mediatype === undefined ? {} : { mediatype },
    content: proto.Message.encode(content).finish(),
  };
  return { channel, messageId, attrs, content: [plaintext, ...stanzaOf(content).nodes] };
};

export const relayPost = async (connection: LiveConnection, post: OutgoingPost): Promise<Transmission> => {
  const sent = await write(connection, postStanza(post));
  const code = sent.ok || sent.refusal.reason !== 'refused' ? null : sent.refusal.code;
  if (code === 401 || code === 403) return noAdmin;
  return code === 404 ? noChannel : sent;
};

/** Sends an edit, which replaces the content of the post with this id. */
export const relayEdit = (connection: LiveConnection, post: OutgoingPost): Promise<Transmission> =>
  write(connection, postStanza(post, { edit: edits.text }));

export const relayDeletion = (
  connection: LiveConnection,
  { channel, messageId }: Pick<OutgoingPost, 'channel' | 'messageId'>,
): Promise<Transmission> =>
  write(connection, {
    channel,
    messageId,
    attrs: { type: 'text', edit: edits.deletion },
    content: [{ tag: 'plaintext', attrs: {} }],
  });

/** Sends a reaction. `text`: an emoji; '' removes the reaction. `messageId`: the id of the reaction. */
export const relayReaction = (
  connection: LiveConnection,
  {
    channel,
    messageId,
    serverId,
    text,
  }: Pick<OutgoingPost, 'channel' | 'messageId'> & { readonly serverId: number; readonly text: string },
): Promise<Transmission> => {
  const objection = notCarried(text);
  if (objection !== null) return Promise.resolve(objection);
  return write(connection, {
    channel,
    messageId,
    attrs: { type: 'reaction', server_id: String(serverId), ...(text === '' ? { edit: edits.noReaction } : {}) },
    content: [{ tag: 'reaction', attrs: text === '' ? {} : { code: text } }],
  });
};
