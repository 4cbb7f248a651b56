/**
 * The type of a composer, which makes the platform's form of one kind of content, and texts that answer a stored message in its own form.
 */
import { createHash, randomBytes } from 'node:crypto';
import { aesEncryptGCM, hmacSign, proto } from '@whiskeysockets/baileys';
import { done, type Message, refuse, type Result } from '#actors/model.ts';
import { pollOf } from '../events/answers.ts';
import { type Tappable, tappablesOf, unwrapped } from '../events/message-kinds.ts';
import { bare, type Directory, isGroup, isLid } from '../wire/jid.ts';
import type { LiveConnection } from './live-connection.ts';

// Texts that answer a stored message in its own form: `>` and an option, by its id or its label. Several options of a poll stand on lines
// of their own or behind bars. Texts that answer anything else stay texts.

interface Answer {
  readonly message: proto.IMessage;
  /** Labels of the chosen options, joined by a bar. */
  readonly vote: string;
}

/** The answered message: as it is stored, and its content. */
interface Asked {
  readonly stored: Message;
  readonly message: proto.IMessage;
}

const unknown = (choice: string, options: readonly string[]) =>
  refuse('invalid', `${choice.slice(0, 100) || '>'} is no option of the message: ${options.join(', ').slice(0, 1_000)}`);

const sameText = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The second layer of encryption, under the secret of the poll; `creator` and `voter` are addresses without a device. */
const sealedVote = (pollId: string, secret: Uint8Array, parties: { creator: string; voter: string }, chosen: readonly string[]) => {
  const { creator, voter } = parties;
  const use = Buffer.concat([Buffer.from(`${pollId}${creator}${voter}Poll Vote`), Buffer.of(1)]);
  const key = hmacSign(use, hmacSign(secret, new Uint8Array(32)));
  const vote = proto.Message.PollVoteMessage.encode({ selectedOptions: chosen.map(sha256) }).finish();
  const encIv = randomBytes(12);
  return { encPayload: aesEncryptGCM(vote, key, encIv, Buffer.from(`${pollId}\0${voter}`)), encIv };
};

const voteIn = ({ stored, message }: Asked, choice: string, { me }: Directory): Result<Answer> | null => {
  const poll = pollOf(unwrapped(message) ?? {});
  const secret = message.messageContextInfo?.messageSecret;
  if (!poll || !secret) return null;
  const options = (poll.options ?? []).map(({ optionName }) => optionName ?? '');
  const wanted = options.some((option) => sameText(option, choice)) ? [choice] : choice.split(/[|\n]/);
  const chosen = wanted.map((one) => options.find((option) => sameText(option, one.replace(/^\s*>/, ''))));
  if (!chosen.every((one) => one !== undefined)) return unknown(choice, options);
  const most = poll.selectableOptionsCount ?? 0;
  if (most > 0 && chosen.length > most) return refuse('invalid', `one chooses at most ${most} options of this poll`);
  const own = isLid(stored.sender) && me.lid !== '' ? me.lid : me.pn;
  const creator = stored.fromMe ? own : bare(stored.sender);
  const participant = isGroup(stored.chatId) && !stored.fromMe ? { participant: stored.sender } : {};
  const vote = sealedVote(stored.messageId, secret, { creator, voter: own }, chosen);
  const pollCreationMessageKey = { remoteJid: stored.chatId, fromMe: stored.fromMe, id: stored.messageId, ...participant };
  return done({ message: { pollUpdateMessage: { pollCreationMessageKey, vote, senderTimestampMs: Date.now() } }, vote: chosen.join('|') });
};

const { ButtonsResponseMessage, InteractiveResponseMessage, ListResponseMessage } = proto.Message;

/** The form in which phones answer each kind of message. */
const tapIn = (asked: proto.IMessage, { id, text, description, row }: Tappable): proto.IMessage => {
  const selectedId = id ?? '';
  if (asked.listMessage) {
    const listType = ListResponseMessage.ListType.SINGLE_SELECT;
    return { listResponseMessage: { title: text, description, listType, singleSelectReply: { selectedRowId: selectedId } } };
  }
  if (asked.buttonsMessage) {
    const type = ButtonsResponseMessage.Type.DISPLAY_TEXT;
    return { buttonsResponseMessage: { selectedButtonId: selectedId, selectedDisplayText: text, type } };
  }
  const params = row ? { id: selectedId, title: text, description } : { id: selectedId };
  return {
    interactiveResponseMessage: {
      body: { text, format: InteractiveResponseMessage.Body.Format.DEFAULT },
      nativeFlowResponseMessage: { name: row ? 'menu_options' : 'quick_reply', paramsJson: JSON.stringify(params), version: 3 },
    },
  };
};

const tapOn = ({ stored, message }: Asked, choice: string): Result<Answer> | null => {
  const content = unwrapped(message) ?? {};
  const options = tappablesOf(content).filter(({ id }) => id !== null);
  if (stored.fromMe || options.length === 0) return null;
  const option = options.find(({ id }) => id === choice) ?? options.find(({ text }) => sameText(text, choice));
  if (option === undefined)
    return unknown(
      choice,
      options.map(({ text }) => text),
    );
  return done({ message: tapIn(content, option), vote: option.text });
};

/** Null if the text is not an answer, or the message has no options. Refuses with `invalid` for an unknown option. */
export const answerTo = (text: string, asked: Asked, directory: Directory): Result<Answer> | null => {
  if (!text.startsWith('>')) return null;
  const choice = text.slice(1).trim();
  return voteIn(asked, choice, directory) ?? tapOn(asked, choice);
};

// The type of a composer, which makes the platform's form of one kind of content.

export interface Composer<Content> {
  /** True if the composer uploads a file, within a time limit of its own. */
  readonly uploads?: true;
  /** The content for the chat `jid`, without quotes, mentions and marks, which `compose` adds to every kind. Refused (`invalid`) when it cannot be made. */
  content(content: Content, connection: LiveConnection, jid: string): Promise<Result<proto.IMessage>>;
  /** Replaces `content` if the send replies to a message that needs an answer in its own form. Null for other replies. */
  answer?(content: Content, asked: Asked, directory: Directory): Result<Answer> | null;
  /** The same without a connection, as far as that goes: it says the kind and the text of the message. */
  draft(content: Content): proto.IMessage;
  /** True if the draft is complete, so that the content needs no request. */
  isComplete(content: Content): boolean;
  /** The same as `content`, for a channel. Kinds without it are not posted in channels. */
  post?(content: Content, connection: LiveConnection): Promise<Result<Posted>>;
  /** The stored form of a message with a second layer of encryption; null if the content itself is stored. */
  recorded?(content: Content, made: proto.IMessage): Recorded | null;
}

/** The content of a post, and the platform's name for its uploaded file; '' without one. */
export interface Posted {
  readonly message: proto.IMessage;
  readonly mediaId: string;
}

/** A kind of content that needs nothing but itself. */
export const plainComposer = <Content>(of: (content: Content) => proto.IMessage): Composer<Content> => ({
  content: async (content) => done(of(content)),
  draft: of,
  isComplete: () => true,
});

/** The stored form of a message, if it differs from the sent form. */
export interface Recorded {
  readonly message: proto.IMessage;
  /** Id of the message that this one edits. */
  readonly edited: string;
}

/** Rejects every upload. Functions of the library require an upload function. */
export const noUpload = (): Promise<never> => Promise.reject(new Error('this kind of content uploads nothing'));
