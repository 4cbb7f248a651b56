/**
 * The type of a composer, which builds the platform's form of one kind of content. Also converts texts that choose an option of a stored message into
 * votes and taps.
 */
import { createHash, randomBytes } from 'node:crypto';
import { aesEncryptGCM, hmacSign, proto } from '@whiskeysockets/baileys';
import { done, type Message, refuse, type Result } from '#actors/model.ts';
import { pollOf } from '../events/answers.ts';
import { type Tappable, tappablesOf, unwrapped } from '../events/message-kinds.ts';
import { bare, type Directory, isGroup, isLid } from '../wire/jid.ts';
import type { LiveConnection } from './live-connection.ts';

// Texts that choose an option of a quoted message: `>` and the id or the label of the option. Several options of a poll are separated by line
// breaks or bars. Replies to messages without options stay texts.

interface Answer {
  readonly message: proto.IMessage;
  /** Labels of the chosen options, joined by a bar. */
  readonly vote: string;
}

/** The quoted message: its stored form and its content. */
interface Asked {
  readonly stored: Message;
  readonly message: proto.IMessage;
}

const unknown = (choice: string, options: readonly string[]) =>
  refuse('invalid', `${choice.slice(0, 100) || '>'} is no option of the message: ${options.join(', ').slice(0, 1_000)}`);

const sameText = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Encrypts a vote under the secret of the poll. `creator` and `voter` are addresses without a device. */
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

/** Builds the answer that phones send after a tap on each kind of message. */
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

/**
 * Builds the answer to a message with options. Returns null if the text is not an answer, or the message has no options or is a button
 * message of the account itself. Refuses an unknown option.
 */
export const optionAnswerTo = (text: string, asked: Asked, directory: Directory): Result<Answer> | null => {
  if (!text.startsWith('>')) return null;
  const choice = text.slice(1).trim();
  return voteIn(asked, choice, directory) ?? tapOn(asked, choice);
};

// The type of a composer.

export interface Composer<Content> {
  /** True if the composer uploads a file. Uploads have their own time limit. */
  readonly uploads?: true;
  /**
   * Builds the content for a chat. `compose` adds quotes, mentions and marks later. Refuses with `invalid` if the content is not valid, or with the
   * refusal of an upload or of a platform request.
   */
  content(content: Content, connection: LiveConnection, jid: string): Promise<Result<proto.IMessage>>;
  /** Builds the message in place of `content()` if the text chooses an option of the quoted message. Returns null for other replies. */
  answer?(content: Content, asked: Asked, directory: Directory): Result<Answer> | null;
  /** Builds the content without a connection, as far as possible. It has at least the kind and the text of the message. */
  draft(content: Content): proto.IMessage;
  /** Returns true if the draft is complete, so the content needs no request. */
  isComplete(content: Content): boolean;
  /** Builds the content for a channel. A kind without this method cannot be posted in channels. */
  post?(content: Content, connection: LiveConnection): Promise<Result<Posted>>;
  /** Returns the stored form of a message with a second layer of encryption; null if the content itself is stored. */
  recorded?(content: Content, made: proto.IMessage): StoredForm | null;
}

/** The content of a post, and the platform's name for its uploaded file; '' without one. */
export interface Posted {
  readonly message: proto.IMessage;
  readonly mediaId: string;
}

/** Makes the composer of a kind of content that needs no connection. */
export const plainComposer = <Content>(of: (content: Content) => proto.IMessage): Composer<Content> => ({
  content: async (content) => done(of(content)),
  draft: of,
  isComplete: () => true,
});

/** The stored form of a message, if it differs from the sent form. */
export interface StoredForm {
  readonly message: proto.IMessage;
  /** The id of the edited message. */
  readonly edited: string;
}

/** Rejects. Functions of the library require an upload function, also for contents without a file. */
export const noUpload = (): Promise<never> => Promise.reject(new Error('this kind of content uploads nothing'));
