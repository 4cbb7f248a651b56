/** Contents with a second layer of encryption inside the Signal envelope: votes in polls, edits of messages, answers to events and changes of events. */
import { createHash, hkdfSync } from 'node:crypto';
import { aesDecryptGCM, aesEncryptGCM, decryptPollVote, hkdf, hmacSign, proto } from '@whiskeysockets/baileys';
import { secretOf } from '../content.ts';
import { type Content, SandboxError } from '../interface.ts';
import type { Random } from '../random.ts';
import type { Stored } from '../store/messages.ts';

// Encryption of poll votes: a second layer under the poll's secret, inside the Signal encryption.

export interface PollContext {
  readonly pollId: string;
  /** The jid of the poll's creator, without device. */
  readonly creator: string;
  readonly voter: string;
  readonly secret: Uint8Array;
}

const hashOption = (option: string): Buffer => createHash('sha256').update(option).digest();

export function encryptVote(
  options: readonly string[],
  { pollId, creator, voter, secret }: PollContext,
  iv: Uint8Array,
): proto.Message.IPollEncValue {
  const usage = Buffer.concat([Buffer.from(`${pollId}${creator}${voter}Poll Vote`), Buffer.from([1])]);
  const key = hmacSign(usage, hmacSign(secret, new Uint8Array(32)));
  const vote = proto.Message.PollVoteMessage.encode({ selectedOptions: options.map(hashOption) }).finish();
  return { encPayload: aesEncryptGCM(vote, key, iv, Buffer.from(`${pollId}\u0000${voter}`)), encIv: iv };
}

/** Returns the names of the chosen options; `undefined` if no context decrypts the vote. */
export function decryptVote(
  vote: proto.Message.IPollEncValue,
  poll: proto.Message.IPollCreationMessage,
  contexts: readonly PollContext[],
): string[] | undefined {
  const names = new Map((poll.options ?? []).map(({ optionName }) => [hashOption(optionName ?? '').toString('hex'), optionName ?? '']));
  for (const { pollId, creator, voter, secret } of contexts) {
    try {
      const opened = decryptPollVote(vote, { pollCreatorJid: creator, pollMsgId: pollId, pollEncKey: secret, voterJid: voter });
      return (opened.selectedOptions ?? []).map((hash) => names.get(Buffer.from(hash).toString('hex')) ?? 'unknown option');
    } catch {
      // This context does not decrypt the vote, for example because the voter used other jids (number or LID). The loop tries the next context.
      continue;
    }
  }
  return undefined;
}

// Edits that are encrypted under the secret of the message that they change, inside the Signal encryption.

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/** The context of an edit. Jids have no device. */
interface EditContext {
  /** Id of the changed message. */
  readonly messageId: string;
  readonly secret: Uint8Array;
  readonly author: string;
  readonly editor: string;
}

const none = Buffer.alloc(0);

const keyOf = ({ messageId, secret, author, editor }: EditContext): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, none, `${messageId}${author}${editor}Message Edit`, 32));

export const sealEdit = (edit: proto.IMessage, context: EditContext, iv: Uint8Array): proto.Message.ISecretEncryptedMessage => ({
  encPayload: aesEncryptGCM(proto.Message.encode(edit).finish(), keyOf(context), iv, none),
  encIv: iv,
  secretEncType: SecretEncType.MESSAGE_EDIT,
});

/** Decrypts an edit. Returns `undefined` if no context fits. The app of the editor may have used the number or the LID in each of the two jids. */
export const openEdit = (sealed: proto.Message.ISecretEncryptedMessage, contexts: readonly EditContext[]): proto.IMessage | undefined => {
  const { encPayload, encIv } = sealed;
  if (!encPayload || !encIv) return undefined;
  for (const context of contexts) {
    try {
      return proto.Message.decode(aesDecryptGCM(encPayload, keyOf(context), encIv, none));
    } catch {
      // This context does not decrypt the edit, for example because the editor used other jids (number or LID). The loop tries the next context.
      continue;
    }
  }
  return undefined;
};

// Encrypts and decrypts answers to events and changes of events, under the secret of the event.

/** The context of an answer to an event, or of a change of an event. Jids have no device. `creator` made the event. `other` answers or changes the event. */
interface EventContext {
  readonly eventId: string;
  readonly secret: Uint8Array;
  readonly creator: string;
  readonly other: string;
}

export const responses = { going: 1, notGoing: 2, maybe: 3 } as const;

export type Answer = keyof typeof responses;

function encryptAnswer(
  answer: Answer,
  extraGuests: number,
  { eventId, secret, creator, other }: EventContext,
  iv: Uint8Array,
): Pick<proto.Message.IEncEventResponseMessage, 'encPayload' | 'encIv'> {
  const usage = Buffer.concat([Buffer.from(`${eventId}${creator}${other}Event Response`), Buffer.from([1])]);
  const key = hmacSign(usage, hmacSign(secret, new Uint8Array(32)));
  const plain = proto.Message.EventResponseMessage.encode({
    response: responses[answer],
    timestampMs: Date.now(),
    extraGuestCount: extraGuests,
  }).finish();
  return { encPayload: aesEncryptGCM(plain, key, iv, Buffer.from(`${eventId}\u0000${other}`)), encIv: iv };
}

const editKey = ({ eventId, secret, creator, other }: EventContext): Buffer =>
  Buffer.from(hkdf(Buffer.from(secret), 32, { salt: Buffer.alloc(32), info: `${eventId}${creator}${other}Event Edit` }));

const encryptEdit = (event: proto.Message.IEventMessage, context: EventContext, iv: Uint8Array): proto.Message.ISecretEncryptedMessage => ({
  secretEncType: proto.Message.SecretEncryptedMessage.SecretEncType.EVENT_EDIT,
  encPayload: aesEncryptGCM(proto.Message.encode({ eventMessage: event }).finish(), editKey(context), iv, none),
  encIv: iv,
});

/** Returns the event after the change; undefined if no context decrypts it. */
function decryptEdit(
  { encPayload, encIv }: proto.Message.ISecretEncryptedMessage,
  contexts: readonly EventContext[],
): proto.IMessage | undefined {
  if (!encPayload || !encIv) return undefined;
  for (const context of contexts) {
    try {
      return proto.Message.decode(aesDecryptGCM(encPayload, editKey(context), encIv, none));
    } catch {
      // This context does not decrypt the change, for example because the author used other jids (number or LID). The loop tries the next context.
      continue;
    }
  }
  return undefined;
}

/** Decrypts a change of an event or an edit of another message; undefined if no context fits. `target`: the message before the change. */
export const openChange = (
  change: proto.Message.ISecretEncryptedMessage,
  target: proto.IMessage,
  contexts: readonly EditContext[],
): proto.IMessage | undefined => {
  if (change.secretEncType === SecretEncType.MESSAGE_EDIT) return openEdit(change, contexts);
  if (!target.eventMessage) return undefined;
  return decryptEdit(
    change,
    contexts.map(({ messageId, secret, author, editor }) => ({ eventId: messageId, secret, creator: author, other: editor })),
  );
};

// Events that simulated people make, change and answer.

type Of<K extends Content['kind']> = Extract<Content, { readonly kind: K }>;

/** A message with an event. `creator` is the jid of the person who made the event. `me` is the jid of the person who answers or changes it. */
interface Known {
  readonly stored: Stored;
  readonly key: proto.IMessageKey;
  readonly creator: string;
  readonly me: string;
}

export const composeEvent = ({ kind: _kind, ...event }: Of<'event'>, random: Random): proto.IMessage => ({
  eventMessage: { isCanceled: false, ...event },
  messageContextInfo: { messageSecret: random.bytes(32) },
});

const contextOf = ({ stored, creator, me }: Known): EventContext => {
  const secret = secretOf(stored.content);
  if (!stored.content?.eventMessage || !secret) throw new SandboxError(400, `not an event: ${stored.id}`);
  return { eventId: stored.id, secret, creator, other: me };
};

export const composeAnswer = (known: Known, { answer, extraGuests = 0 }: Of<'eventAnswer'>, random: Random): proto.IMessage => ({
  encEventResponseMessage: {
    eventCreationMessageKey: known.key,
    ...encryptAnswer(answer, extraGuests, contextOf(known), random.bytes(12)),
  },
});

export function composeEventEdit(known: Known, { name, isCanceled }: Of<'eventEdit'>, random: Random): proto.IMessage {
  if (known.stored.author !== '') throw new SandboxError(400, 'only an own event can be changed');
  const context = contextOf(known);
  const changed = {
    ...known.stored.content?.eventMessage,
    ...(name === undefined ? {} : { name }),
    ...(isCanceled === undefined ? {} : { isCanceled }),
  };
  return { secretEncryptedMessage: { targetMessageKey: known.key, ...encryptEdit(changed, context, random.bytes(12)) } };
}
