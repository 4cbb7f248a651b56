/** From what a client of the interface asked for to a message of the platform, and on its way. */
import { randomUUID } from 'node:crypto';
import { generateWAMessage, type GroupMetadata, proto, type WAMessage, type WASocket, type WAUrlInfo } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import type { Composed, Composition, TextSend, Transmission } from '#actors/ports.ts';
import { closeOf } from '../connection/close-cause.ts';
import type { Directory } from '../directory.ts';
import { convertMessage } from '../events/from-message.ts';
import { bare, isGroup, isLid, isPerson, personJid, resolveTarget, shortMessageId } from '../jid.ts';
import { alreadyClosed, connectionClosed, refusalText, type Transmissions } from './transmissions.ts';

export interface Preview {
  readonly title: string;
  readonly description: string;
  readonly jpeg: Uint8Array | null;
}

/** A live connection, as a sender needs it. */
export interface Connection {
  readonly sock: WASocket;
  readonly directory: Directory;
  readonly transmissions: Transmissions;
  quoted(messageId: string): Promise<Message | null>;
  fetchPreview(url: string): Promise<Preview | null>;
  /** Reads the other addresses of people into memory, so that `directory` knows them. */
  learn(jids: readonly string[]): Promise<void>;
  /** A text to a person was written, and with it, when one was due, a privacy token. */
  tokenIssued(jid: string): void;
  /** Members and addressing of a group, from memory where possible; null when the platform does not tell. */
  group(jid: string): Promise<GroupMetadata | null>;
}

const firstLink = (text: string): string => /https?:\/\/[^\s<>"]+/i.exec(text)?.[0] ?? '';

/** As the platform's web client makes them: `3EB0` and 18 digits. Node pools the randomness of UUIDs; the library asks the system for each id. */
const newMessageId = (): string => {
  const [first = '', second = '', , , last = ''] = randomUUID().split('-');
  return `3EB0${(first + second + last).slice(0, 18).toUpperCase()}`;
};

/** A picture as clients write it: a data URL or bare base64. Null for an address. */
const inlinePicture = (image: string): Buffer | null =>
  /^https?:/i.test(image) ? null : Buffer.from(image.replace(/^data:[^,]*,/, ''), 'base64');

/** `large` needs an uploaded picture; without one the platform shows the small form. */
const linkPreview = async ({ text, preview }: TextSend, connection: Connection): Promise<WAUrlInfo | null> => {
  const link = firstLink(text);
  if (preview === null || link === '') return null;
  const fetched =
    preview === 'auto'
      ? await connection.fetchPreview(link)
      : /^https?:/i.test(preview.image)
        ? await connection.fetchPreview(preview.image)
        : null;
  const words = preview === 'auto' ? fetched : preview;
  if (words === null) return null;
  const inline = preview === 'auto' || preview.image === '' ? null : inlinePicture(preview.image);
  const picture = inline ?? (fetched?.jpeg ? Buffer.from(fetched.jpeg) : null);
  return {
    'canonical-url': link,
    'matched-text': link,
    title: words.title,
    description: words.description,
    ...(picture === null ? {} : { jpegThumbnail: picture }),
  };
};

/** A stored message in the shape that is quoted. */
const quotable = (stored: Message): WAMessage | null => {
  if (stored.raw === null) return null;
  const key = {
    remoteJid: stored.chatId,
    id: stored.messageId,
    fromMe: stored.fromMe,
    ...(stored.isGroup ? { participant: stored.sender } : {}),
  };
  return { key, message: proto.Message.decode(stored.raw) };
};

const mentionJid = (mention: string): string => (mention.includes('@') ? bare(mention) : personJid(mention.replace(/\D/g, '')));

/** In groups that speak in LIDs a mention is one too, where it is known. */
const mentioned = (mentions: readonly string[], group: GroupMetadata | null, directory: Directory): string[] => {
  if (mentions.includes('all')) return (group?.participants ?? []).map(({ id }) => id);
  return mentions.map(mentionJid).map((jid) => (group?.addressingMode === 'lid' && !isLid(jid) ? directory.lid(jid) || jid : jid));
};

const failure = (error: unknown, live: boolean): Transmission => {
  const { code, message } = closeOf(error);
  if (!live || code === 428) return connectionClosed;
  if (code === 408) return { ok: false, reason: 'unknown', error: 'the platform did not answer in time' };
  const told = typeof error === 'object' && error !== null && 'data' in error && typeof error.data === 'number' ? error.data : code;
  const sentence = message === 'All encryptions failed' ? 'the recipient cannot be reached: the platform knows no device' : message;
  return { ok: false, reason: 'refused', error: told === 404 ? refusalText(404) : sentence, ...(told === null ? {} : { code: told }) };
};

/** Order is kept by the library: it hands messages over one by one, in the order of the calls. */
const transmitter = (connection: Connection, jid: string, messageId: string, content: proto.IMessage) => (): Promise<Transmission> => {
  if (connection.transmissions.closed) return Promise.resolve(alreadyClosed);
  const answer = connection.transmissions.wait(messageId);
  connection.sock.relayMessage(jid, content, { messageId, additionalAttributes: {} }).then(
    () => {
      // The library notes it too, in a transaction that is over by then: without us each text would be followed by another request.
      if (isPerson(jid) || isLid(jid)) connection.tokenIssued(jid);
    },
    (error: unknown) => connection.transmissions.failed(messageId, failure(error, connection.sock.ws.isOpen)),
  );
  return answer;
};

const compositionOf = (full: WAMessage, jid: string, connection: Connection): Composition => {
  const content = full.message;
  const converted = convertMessage(full, connection.directory, { wasSentByApi: true, status: 'Queued' });
  if (converted === null || !content) return { ok: false, message: 'the message is empty' };
  const { message } = converted;
  return { ok: true, composed: { message, transmit: transmitter(connection, jid, message.messageId, content) } };
};

export const composeText = async (send: TextSend, connection: Connection): Promise<Composition> => {
  const target = resolveTarget(send.number);
  if (!target.ok) return target;
  const { jid } = target;
  const stored = send.replyTo === '' ? null : await connection.quoted(shortMessageId(send.replyTo));
  const quoted = stored === null ? null : quotable(stored);
  if (send.replyTo !== '' && quoted === null) return { ok: false, message: `the quoted message ${send.replyTo} is unknown` };
  const group = isGroup(jid) && send.mentions.length > 0 ? await connection.group(jid) : null;
  await connection.learn([jid, ...send.mentions.map(mentionJid)]);
  const mentions = mentioned(send.mentions, group, connection.directory);
  const userJid = connection.directory.me.pn;
  const content = {
    text: send.text,
    linkPreview: await linkPreview(send, connection),
    ...(mentions.length === 0 ? {} : { mentions }),
    ...(send.forward ? { contextInfo: { isForwarded: true, forwardingScore: 1 } } : {}),
  };
  const messageId = newMessageId();
  // No upload: a text has no media.
  const upload = () => Promise.reject(new Error('a text uploads nothing'));
  const full = await generateWAMessage(jid, content, { userJid, messageId, upload, ...(quoted === null ? {} : { quoted }) });
  return compositionOf(full, jid, connection);
};

/** What was stored as `Queued`, ready to go again under the same id. */
export const recompose = (message: Message, connection: Connection): Composed => {
  const content = message.raw === null ? null : proto.Message.decode(message.raw);
  const unreadable: Transmission = { ok: false, reason: 'refused', error: 'the stored message cannot be read' };
  return {
    message,
    transmit: content === null ? () => Promise.resolve(unreadable) : transmitter(connection, message.chatId, message.messageId, content),
  };
};
