/** Makes the protobuf message for the content from a simulated person. */
import type { proto } from '@whiskeysockets/baileys';
import { proto as types } from '@whiskeysockets/baileys';
import { jidOf, pnJid, statusJid, type Addressing } from '../address.ts';
import { chatInKey } from '../status-posts.ts';
import { type MediaPart, pollOf, secretOf } from '../content.ts';
import { SandboxError, type Content } from '../interface.ts';
import type { SealedMedia } from '../media.ts';
import type { People, Person } from '../people.ts';
import { composeOrder, composeProduct, composeTap } from './compose-answers.ts';
import { composeAnswer, composeEvent, composeEventEdit, encryptVote, sealEdit } from './polls-and-events.ts';
import type { Shops } from '../business/shops.ts';
import type { Random } from '../random.ts';
import type { MessageStore, Stored } from '../store/messages.ts';

/** The chat to which a message is sent, as the sender sees it. */
export interface Place {
  readonly chat: string;
  readonly addressing: Addressing;
  readonly group: boolean;
}

/** A message, with the stanza attribute `edit` (1: edit, 2: pin, 7: removal of an own message, reaction or keep, 8: deletion by an admin). */
export interface Composed {
  readonly message: proto.IMessage;
  readonly edit?: '1' | '2' | '7' | '8';
}

interface Tools {
  readonly people: People;
  readonly shops: Shops;
  readonly messages: MessageStore;
  readonly media: { seal(kind: MediaPart['kind'], plain: Uint8Array): Promise<Partial<SealedMedia>> };
  readonly random: Random;
}

type Of<K extends Content['kind']> = Extract<Content, { readonly kind: K }>;
type MediaContent = Extract<Content, { readonly data: string }>;

export async function compose(from: Person, place: Place, content: Content, tools: Tools): Promise<Composed> {
  switch (content.kind) {
    case 'text':
      return { message: composeText(from, place, content, tools) };
    case 'reaction':
      return {
        message: { reactionMessage: { ...reactionTo(from, place, content.messageId, tools), text: content.emoji } },
        ...(content.emoji === '' ? { edit: '7' } : {}),
      };
    case 'edit':
      return { message: composeEdit(from, place, content, tools), edit: '1' };
    case 'delete':
      return composeDeletion(from, place, content, tools);
    case 'pin':
      return { message: composePin(from, place, content, tools), edit: '2' };
    case 'keep':
      return composeKeep(from, place, content, tools);
    case 'poll':
      return { message: composePoll(content, tools) };
    case 'pollVote':
      return { message: composeVote(from, place, content, tools) };
    case 'tap':
      return {
        message: composeTap(content, findMessage(from, content.messageId, tools).content, quote(from, place, content.messageId, tools)),
      };
    case 'event':
      return { message: composeEvent(content, tools.random) };
    case 'eventAnswer':
      return { message: composeAnswer(eventOf(from, place, content, tools), content, tools.random) };
    case 'eventEdit':
      return { message: composeEventEdit(eventOf(from, place, content, tools), content, tools.random), edit: '1' };
    case 'contact':
      return { message: { contactMessage: { displayName: content.displayName, vcard: content.vcard } } };
    case 'location':
      return { message: { locationMessage: locationOf(content) } };
    case 'product':
      return { message: composeProduct(content, tools) };
    case 'order':
      return { message: composeOrder(content, tools) };
    case 'message':
      return { message: composeJson(content.message) };
    default:
      return { message: await composeMedia(content, tools) };
  }
}

function eventOf(from: Person, place: Place, { messageId }: { readonly messageId: string }, tools: Tools) {
  const stored = findMessage(from, messageId, tools);
  const key = keyOf(from, place, stored, tools);
  return { stored, key, creator: authorJid(from, place, stored, tools), me: jidOf(from, place.addressing) };
}

function composeJson(json: Readonly<Record<string, unknown>>): proto.IMessage {
  try {
    // Encoding and decoding drops every field that the protocol does not have.
    return types.Message.decode(types.Message.encode(types.Message.fromObject(json)).finish());
  } catch (error) {
    throw new SandboxError(400, `message: not a message of the protocol: ${String(error).slice(0, 200)}`);
  }
}

function locationOf({ latitude, longitude, name }: Of<'location'>): proto.Message.ILocationMessage {
  return { degreesLatitude: latitude, degreesLongitude: longitude, ...(name === undefined ? {} : { name }) };
}

function composeText(from: Person, place: Place, content: Of<'text'>, tools: Tools): proto.IMessage {
  const contextInfo: proto.IContextInfo = {
    ...(content.mentions?.length
      ? { mentionedJid: content.mentions.map((number) => jidOf(tools.people.ensure(number), place.addressing)) }
      : {}),
    ...(content.forwarded ? { isForwarded: true, forwardingScore: 1 } : {}),
    ...(content.replyTo === undefined ? {} : quote(from, place, content.replyTo, tools)),
  };
  // Apps add a secret to every message. Later changes of the message may be encrypted under this secret.
  const messageContextInfo = { messageSecret: tools.random.bytes(32) };
  if (Object.keys(contextInfo).length === 0) return { conversation: content.text, messageContextInfo };
  return { extendedTextMessage: { text: content.text, contextInfo }, messageContextInfo };
}

function quote(from: Person, place: Place, id: string, tools: Tools): proto.IContextInfo {
  const quoted = findMessage(from, id, tools);
  const about = { stanzaId: id, participant: authorJid(from, place, quoted, tools), quotedMessage: quoted.content ?? {} };
  return quoted.chat === statusJid ? { ...about, remoteJid: statusJid } : about;
}

function reactionTo(from: Person, place: Place, id: string, tools: Tools): proto.Message.IReactionMessage {
  return { key: keyOf(from, place, findMessage(from, id, tools), tools), senderTimestampMs: Date.now() };
}

function composeEdit(from: Person, place: Place, { messageId, text, secret }: Of<'edit'>, tools: Tools): proto.IMessage {
  const own = findMessage(from, messageId, tools);
  if (own.author !== '') throw new SandboxError(400, 'only an own message can be changed');
  const key = keyOf(from, place, own, tools);
  const edit = {
    key,
    type: types.Message.ProtocolMessage.Type.MESSAGE_EDIT,
    editedMessage: { conversation: text },
    timestampMs: Date.now(),
  };
  if (!secret) return { protocolMessage: edit };
  const shared = secretOf(own.content);
  if (!shared) throw new SandboxError(400, 'the message has no secret');
  const jid = jidOf(from, place.addressing);
  const context = { messageId, secret: shared, author: jid, editor: jid };
  const sealed = sealEdit({ protocolMessage: edit }, context, tools.random.bytes(12));
  return { secretEncryptedMessage: { targetMessageKey: key, ...sealed } };
}

function composeDeletion(from: Person, place: Place, { messageId }: Of<'delete'>, tools: Tools): Composed {
  const target = findMessage(from, messageId, tools);
  if (target.author !== '' && !place.group) throw new SandboxError(400, 'only an own message can be deleted for everybody');
  const protocolMessage = { key: keyOf(from, place, target, tools), type: types.Message.ProtocolMessage.Type.REVOKE };
  return { message: { protocolMessage }, edit: target.author === '' ? '7' : '8' };
}

function composePin(from: Person, place: Place, { messageId, seconds }: Of<'pin'>, tools: Tools): proto.IMessage {
  const { PIN_FOR_ALL, UNPIN_FOR_ALL } = types.Message.PinInChatMessage.Type;
  const key = keyOf(from, place, findMessage(from, messageId, tools), tools);
  return {
    pinInChatMessage: { key, type: seconds > 0 ? PIN_FOR_ALL : UNPIN_FOR_ALL, senderTimestampMs: Date.now() },
    messageContextInfo: { messageAddOnDurationInSecs: seconds },
  };
}

function composeKeep(from: Person, place: Place, { messageId, on }: Of<'keep'>, tools: Tools): Composed {
  const { KEEP_FOR_ALL, UNDO_KEEP_FOR_ALL } = types.KeepType;
  const key = keyOf(from, place, findMessage(from, messageId, tools), tools);
  const keepInChatMessage = { key, keepType: on ? KEEP_FOR_ALL : UNDO_KEEP_FOR_ALL, timestampMs: Date.now() };
  return { message: { keepInChatMessage }, ...(on ? {} : { edit: '7' }) };
}

function composePoll({ name, options, selectable = 1 }: Of<'poll'>, { random }: Tools): proto.IMessage {
  const poll = { name, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: selectable };
  const messageContextInfo = { messageSecret: random.bytes(32) };
  return selectable === 1 ? { pollCreationMessageV3: poll, messageContextInfo } : { pollCreationMessage: poll, messageContextInfo };
}

function composeVote(from: Person, place: Place, content: Of<'pollVote'>, tools: Tools): proto.IMessage {
  const poll = findMessage(from, content.messageId, tools);
  const secret = secretOf(poll.content);
  if (!secret) throw new SandboxError(400, `not a poll: ${content.messageId}`);
  const names = new Set(pollOf(poll.content)?.options?.map(({ optionName }) => optionName));
  const unknown = content.options.find((option) => !names.has(option));
  if (unknown !== undefined) throw new SandboxError(400, `the poll has no option ${unknown.slice(0, 80)}`);
  const context = {
    pollId: poll.id,
    creator: authorJid(from, place, poll, tools),
    voter: jidOf(from, place.addressing),
    secret,
  };
  const vote = encryptVote(content.options, context, tools.random.bytes(12));
  return { pollUpdateMessage: { pollCreationMessageKey: keyOf(from, place, poll, tools), vote, senderTimestampMs: Date.now() } };
}

const mimetypes: Record<MediaContent['kind'], string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  gif: 'video/mp4',
  audio: 'audio/mpeg',
  ptt: 'audio/ogg; codecs=opus',
  document: 'application/octet-stream',
  sticker: 'image/webp',
};

async function composeMedia(content: MediaContent, { media }: Tools): Promise<proto.IMessage> {
  const { kind, caption, seconds } = content;
  const file = Buffer.from(content.data, 'base64');
  if (file.length === 0) throw new SandboxError(400, 'media: empty file');
  const hashed = kind === 'gif' ? 'video' : kind === 'ptt' ? 'audio' : kind;
  const sealed = { ...(await media.seal(hashed, file)), mimetype: content.mimetype ?? mimetypes[kind] };
  const captioned = caption === undefined ? sealed : { ...sealed, caption };
  const timed = seconds === undefined ? {} : { seconds };
  switch (kind) {
    case 'image':
      return { imageMessage: captioned };
    case 'video':
    case 'gif':
      return { videoMessage: { ...captioned, ...timed, ...(kind === 'gif' ? { gifPlayback: true } : {}) } };
    case 'audio':
    case 'ptt':
      return { audioMessage: { ...sealed, ...timed, ptt: kind === 'ptt' } };
    case 'sticker':
      return { stickerMessage: sealed };
    case 'document':
      return { documentMessage: { ...captioned, fileName: content.fileName ?? 'file', title: content.fileName ?? 'file' } };
  }
}

function findMessage(from: Person, id: string, { messages }: Tools): Stored {
  const found = messages.find(from.number, id);
  if (!found) throw new SandboxError(404, `${from.number} has no message ${id.slice(0, 80)}`);
  return found;
}

function authorJid(from: Person, place: Place, message: Stored, { people }: Tools): string {
  return jidOf(message.author === '' ? from : people.ensure(message.author), place.addressing);
}

/** Returns a message's key as the sender sees it. */
function keyOf(from: Person, place: Place, message: Stored, tools: Tools): proto.IMessageKey {
  const fromMe = message.author === '';
  const chat = chatInKey(message.chat, place.chat);
  const participant = (place.group || chat === statusJid) && !fromMe ? { participant: authorJid(from, place, message, tools) } : {};
  return { remoteJid: chat, fromMe, id: message.id, ...participant };
}

/** Returns the jid under which the chat with a person is stored. It always contains the number, even if stanzas use the LID. */
export const chatOf = (person: Person): string => pnJid(person.number);
