/** Messages with a second layer of encryption under the secret of a stored message: votes, answers to events, and edits. */
import { createHash } from 'node:crypto';
import { decryptEventResponse, decryptPollVote, proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import { addressesOf, bare, type Directory } from '../wire/jid.ts';
import { openEdit, type SecretContext } from '../wire/stanza-codec.ts';
import { contentJson } from './library-values.ts';
import { unwrapped } from './message-kinds.ts';

// Votes are encrypted under a secret that only the stored poll contains. They name each option by its hash.

export const pollOf = (content: proto.IMessage): proto.Message.IPollCreationMessage | null =>
  content.pollCreationMessageV3 ?? content.pollCreationMessageV2 ?? content.pollCreationMessage ?? content.pollCreationMessageV5 ?? null;

/** Decrypts a vote. Returns the names of the chosen options, joined by `|`; '' for a withdrawn vote. Throws if the context is wrong. */
const openVote = (update: proto.Message.IPollUpdateMessage, content: proto.IMessage, context: SecretContext): string => {
  const { messageId: pollMsgId, secret: pollEncKey, author: pollCreatorJid, writer: voterJid } = context;
  const opened = decryptPollVote(update.vote ?? {}, { pollCreatorJid, voterJid, pollMsgId, pollEncKey });
  const chosen = new Set((opened.selectedOptions ?? []).map((hash) => Buffer.from(hash).toString('hex')));
  return (pollOf(content)?.options ?? [])
    .map((option) => option.optionName ?? '')
    .filter((name) => chosen.has(createHash('sha256').update(name).digest('hex')))
    .join('|');
};

/** The decrypted content of a vote, an answer or an edit, and the rights of its sender. */
export interface Reading {
  /** Names of the chosen options, joined by `|`. For an answer to an event: `GOING`, `NOT_GOING` or `MAYBE`. */
  readonly vote?: string;
  /** The decrypted content, which replaces the encrypted content. */
  readonly content?: unknown;
  /** True if the sender has the right to the deletion or the pin that the message requests in a group. */
  readonly permitted?: boolean;
  /** The new content of the edited message. */
  readonly edit?: { readonly messageId: string; readonly message: proto.IMessage };
}

interface Kind {
  /** Returns the key of the message whose secret decrypts the content. */
  readonly target: (content: proto.IMessage) => proto.IMessageKey | null | undefined;
  /** Decrypts the content. Throws or returns null if the context is wrong. */
  readonly open: (content: proto.IMessage, about: proto.IMessage, context: SecretContext) => Reading | null;
}

const { EventResponseType } = proto.Message.EventResponseMessage;
const { SecretEncType } = proto.Message.SecretEncryptedMessage;

const openAnswer: Kind['open'] = ({ encEventResponseMessage: answer }, _event, context) => {
  const { messageId: eventMsgId, secret: eventEncKey, author: eventCreatorJid, writer: responderJid } = context;
  const opened = decryptEventResponse(answer ?? {}, { eventCreatorJid, eventMsgId, eventEncKey, responderJid });
  const vote = EventResponseType[opened.response ?? 0] ?? 'UNKNOWN';
  const { timestampMs, extraGuestCount } = opened;
  const facts = { eventCreationMessageKey: answer?.eventCreationMessageKey, response: vote, timestampMs, extraGuestCount };
  return { vote, content: contentJson(facts) };
};

const purposes: Readonly<Record<number, 'Event Edit' | 'Message Edit'>> = {
  [SecretEncType.EVENT_EDIT]: 'Event Edit',
  [SecretEncType.MESSAGE_EDIT]: 'Message Edit',
};

const openChange: Kind['open'] = ({ secretEncryptedMessage: change }, _event, context) => {
  if (!change?.encPayload || !change.encIv) return null;
  const purpose = purposes[change.secretEncType ?? 0];
  const plain = purpose ? openEdit({ encPayload: change.encPayload, encIv: change.encIv }, purpose, context) : null;
  if (plain === null) return null;
  const message = proto.Message.decode(plain);
  // Some clients encrypt the whole edit, and others encrypt only the new content.
  return { edit: { messageId: context.messageId, message: message.protocolMessage?.editedMessage ?? message } };
};

const kinds: readonly Kind[] = [
  {
    target: ({ pollUpdateMessage }) => pollUpdateMessage?.pollCreationMessageKey,
    open: ({ pollUpdateMessage }, about, context) => ({ vote: openVote(pollUpdateMessage ?? {}, about, context) }),
  },
  { target: ({ encEventResponseMessage }) => encEventResponseMessage?.eventCreationMessageKey, open: openAnswer },
  {
    target: ({ secretEncryptedMessage: change }) => (purposes[change?.secretEncType ?? 0] ? change?.targetMessageKey : undefined),
    open: openChange,
  },
];

const kindOf = (content: proto.IMessage): Kind | undefined => kinds.find(({ target }) => target(content));

/** Returns the id of the message whose secret decrypts this message; '' for a message without a second layer. */
export const secretHolder = (source: WAMessage): string => {
  const content = unwrapped(source.message) ?? {};
  return kindOf(content)?.target(content)?.id ?? '';
};

const both = (...jids: readonly string[]): string[] => [...new Set(jids.filter((jid) => jid !== ''))];

/**
 * Returns all possible contexts. The encryption key is derived from one address of the author and one of the writer. The client chooses between number and LID,
 * so all pairs are tried.
 */
const contextsOf = (source: WAMessage, stored: Message, secret: Uint8Array, directory: Directory): SecretContext[] => {
  const { key } = source;
  const writer = key.fromMe ? directory.me : addressesOf(directory, key.participant || key.remoteJid, key.participantAlt, key.remoteJidAlt);
  const authors = stored.fromMe ? both(directory.me.pn, directory.me.lid) : both(stored.senderPn, stored.senderLid, bare(stored.sender));
  return authors.flatMap((author) =>
    both(writer.pn, writer.lid).map((one) => ({ messageId: stored.messageId, secret, author, writer: one })),
  );
};

/** Decrypts a vote, an answer to an event, or an edit. `stored`: the message with the secret. Returns null if the content cannot be decrypted. */
export const readAnswer = (source: WAMessage, stored: Message, directory: Directory): Reading | null => {
  const content = unwrapped(source.message) ?? {};
  const kind = kindOf(content);
  const message = stored.raw === null ? null : proto.Message.decode(stored.raw);
  const secret = message?.messageContextInfo?.messageSecret;
  const about = unwrapped(message);
  if (kind === undefined || !about || !secret) return null;
  for (const context of contextsOf(source, stored, secret, directory)) {
    try {
      const reading = kind.open(content, about, context);
      if (reading !== null) return reading;
    } catch {
      // This pair of addresses is wrong. The loop tries the next pair.
      continue;
    }
  }
  return null;
};

// An edit is a separate message with its own id. An action that names an edit applies to the edited message.

/** Returns the platform id of the message that a stored message edits; '' if the stored message is not an edit. */
const targetOf = ({ edited, raw }: Message): string =>
  edited === '' || raw === null ? '' : (unwrapped(proto.Message.decode(raw))?.protocolMessage?.key?.id ?? '');

/** Returns the stored message with this id. For the id of an edit, returns the edited message if it is stored. */
export const originalOf = async (stored: (id: string) => Promise<Message | null>, id: string): Promise<Message | null> => {
  const found = await stored(id);
  const target = found === null ? '' : targetOf(found);
  const original = target === '' ? null : await stored(target);
  return original?.chatId === found?.chatId && original?.fromMe === found?.fromMe ? original : found;
};
