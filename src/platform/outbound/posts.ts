/**
 * Posts of channels on their way out, and what is done to them. The library is not used: it writes changes as in chats, which the platform refuses in
 * channels. It also leaves out the name of an uploaded file, and phones then do not show the file.
 */
import { notCarried } from '../wire/stanza-codec.ts';
import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { refuse } from '#actors/model.ts';
import type { LiveConnection } from './live-connection.ts';
import { closeOf, noAdmin, noChannel, notSent, outcomeOfError, refused } from '../wire/outcomes.ts';
import { stanzaKindOf, stanzaOf } from './stanza.ts';
import type { Transmission } from './transmissions.ts';

/** Values of the attribute `edit`. */
const edits = { text: '3', deletion: '8', noReaction: '7' } as const;

interface Stanza {
  readonly channel: string;
  readonly messageId: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content: BinaryNode[];
}

/** Writes a stanza and waits for its ack. Never rejects. */
const write = (connection: LiveConnection, { channel, messageId, attrs, content }: Stanza): Promise<Transmission> => {
  const { transmissions, sock } = connection;
  if (transmissions.closed) return Promise.resolve(notSent);
  // A change of a post has the id of the post, so that the acknowledgements of two changes cannot be told apart.
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
  /** The platform's name for the uploaded file, '' without one. */
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

/** The content takes the place of the one of the post with this id. */
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

/** `text`: an emoji; '' removes the reaction. `messageId`: the id of the reaction. */
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
