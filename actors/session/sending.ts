/** The steps of a message of any kind on a live session: fill, compose, prepare, store as `Queued`, write, record. */
import { fileUrlOf } from '../attachments.ts';
import {
  type ChatPatch,
  done,
  type Entry,
  isChannelId,
  type Message,
  type NamedChat,
  newPost,
  notConnected,
  type Preparation,
  progress,
  type Refusal,
  refuse,
  type Result,
  type Send,
  type IdempotencyKey,
  statusChat,
  type UsedSendKey,
} from '../model.ts';
import { contentProblem } from '../policy/content-rules.ts';
import type { AnswerOf, Ports } from '../ports.ts';
import { fillPlaceholders, hasPlaceholders } from '../text.ts';
import type { SendOptions } from '../views.ts';
import { pauseUnless } from '../waiting.ts';
import { type Addressable, type Operable, performIn, type Recorded } from './requests.ts';
import { renewEvery, type Typing } from './typing.ts';

/** A session that sends messages. */
export interface Sendable extends Addressable {
  readonly typing: Typing;
}

// The life cycle of an idempotency key. The key is bound to the message of its request. Later the answer is stored with the key, or the key is freed.

/** Binds an idempotency key to its message. If `answer` is null, a repeated request gets its answer from the status of the message. */
export const usedBy = (key: IdempotencyKey, message: Message, at: number, answer: Result<Message> | null = null): UsedSendKey => ({
  ...key,
  messageId: message.messageId,
  at,
  answer: answer?.ok ? { ok: true, value: { ...answer.value, raw: null, queuedSend: null } } : answer,
});

/** The value of `at` that marks an idempotency key as freed. The next removal of expired keys removes its row. */
export const freedAt = 0;

/**
 * Frees an idempotency key, because no frame left the process. The client may retry under the same key. Resolves after the first attempt to record the change.
 */
const free = async (cell: Recorded, key: UsedSendKey | null): Promise<void> => {
  if (key) await cell.recorder.tell({ kind: 'sendKey', key: { ...key, at: freedAt, answer: null } });
};

/**
 * Settles the idempotency key of a send that failed after its message was stored. A refusal of the platform is stored as the answer to the request. If the
 * outcome is unknown, the key stays bound to the message, whose status shows the outcome later. The caller's refusal then contains the id of the message. After
 * any other failure no frame left the process, so the key is freed.
 */
async function settleFailure(cell: Recorded, key: UsedSendKey | null, message: Message, refusal: Refusal): Promise<Result<Message>> {
  if (refusal.reason === 'unknown') return refuse('unknown', refusal.message, { ...refusal, messageId: message.messageId });
  const answer = { ok: false, refusal } as const;
  if (refusal.reason !== 'refused') await free(cell, key);
  else if (key) await cell.recorder.tell({ kind: 'sendKey', key: { ...key, answer } });
  return answer;
}

/** The largest number of messages that `readchat` or `readmessages` marks as read before a send. */
const readLimit = 500;

/** Returns the preview of the chat after a message was written. */
const chatAfter = (message: Message): ChatPatch => ({
  chatId: message.chatId,
  isGroup: message.isGroup,
  lastMessageText: message.text,
  lastMessageType: message.messageType,
  lastMessageSender: message.sender,
  lastMessageTimestamp: message.timestamp,
});

/** Records that a message will not be sent any more. Resolves after the first attempt. If storage is unavailable, the record is stored later. */
export const giveUp = (cell: Recorded, message: Message, status: 'Failed' | 'Canceled', error: string): Promise<void> =>
  cell.recorder.tell(progress(message, status, message.timestamp, error));

/** The ports that a send needs. */
export type SendPorts = Pick<Ports, 'chats' | 'groups' | 'messages' | 'placeholder' | 'time'>;

/** Adds the contacts from which the viewers of a status post are chosen, if the client gave no recipients. */
async function withContacts(ports: SendPorts, cell: Operable, send: Send): Promise<Send> {
  if (!send.audience || send.audience.recipients !== null) return send;
  return { ...send, audience: { ...send.audience, contacts: await ports.chats.contacts(cell.record.id) } };
}

/** Returns the chat that fills placeholders. The platform is asked for the name of a group without a stored name, if the session is live. */
async function namedChat(ports: SendPorts, cell: Operable, signal: AbortSignal | null, chatId: string): Promise<NamedChat | null> {
  const chat = await ports.chats.get(cell.record.id, chatId);
  if (!chatId.endsWith('@g.us') || (chat !== null && chat.name !== '')) return chat;
  const stored = (await ports.groups.get(cell.record.id, chatId))?.subject?.text ?? '';
  const name = stored === '' ? await askedName(cell, signal, chatId) : stored;
  const nobody = { isGroup: true, phone: '', pushName: '', contactName: '', extra: {} };
  return name === '' ? chat : { ...(chat ?? nobody), name };
}

/** Returns the name of a group from the platform, or ''. */
async function askedName(cell: Operable, signal: AbortSignal | null, groupId: string): Promise<string> {
  const ask = (during: AbortSignal) => performIn(cell, during, 'group.get', { groupId, fresh: false, link: false, requests: false });
  const found = await (signal === null ? cell.request(ask) : ask(signal));
  return found?.ok === true ? (found.value.group.subject?.text ?? '') : '';
}

/**
 * Fills the placeholders of the content from the chat, and adds the contacts from which a status post chooses recipients. Refuses with `invalid` if
 * the filled text is too long. `signal` belongs to the request on the live session, and is null without one.
 */
export async function filled(
  ports: SendPorts,
  cell: Operable,
  signal: AbortSignal | null,
  given: Send,
  chatId: string,
): Promise<Result<Send>> {
  const send = await withContacts(ports, cell, given);
  if (send.literal === true || !hasPlaceholders(send.content)) return done(send);
  const chat = await namedChat(ports, cell, signal, chatId);
  const content = fillPlaceholders(send.content, chat, ports.placeholder);
  const problem = contentProblem(content);
  return problem === null ? done({ ...send, content }) : refuse('invalid', problem);
}

/** Adds the labels by which the caller finds the message, and the URL of its file. */
export const labelled = (
  message: Message,
  { content }: Send,
  { trackId, trackSource, label, payload, aiMetadata, folder }: SendOptions,
): Message => ({
  ...message,
  fileUrl: fileUrlOf(content),
  trackId,
  trackSource,
  sendFunction: label,
  sendPayload: payload,
  ...(aiMetadata ? { aiMetadata } : {}),
  ...(folder ? { sendFolderId: folder.id, sendPosition: folder.position } : {}),
});

/**
 * Stores a message before its first frame is written. If the write to storage fails, the message is not sent. If the reply of the database was lost, the
 * message may still be stored. The `Failed` status keeps a later start from sending the message. `key` is stored with the message, and freed on failure.
 */
export async function accept(cell: Recorded, message: Message, key: UsedSendKey | null): Promise<Message> {
  try {
    const { renamed } = await cell.recorder.append({ kind: 'queued', message, chat: chatAfter(message), ...(key ? { key } : {}) });
    const { id } = renamed?.find(({ messageId }) => messageId === message.messageId) ?? message;
    return id === message.id ? message : { ...message, id };
  } catch (error) {
    void giveUp(cell, message, 'Failed', 'it could not be stored when it was accepted');
    void free(cell, key);
    throw error;
  }
}

/** Shows typing or recording, and marks messages as read, before a message is sent. */
export async function prepare(ports: SendPorts, cell: Operable, signal: AbortSignal, message: Message, how: Preparation): Promise<void> {
  const { chatId, mediaType } = message;
  if (how.delay > 0 && chatId !== statusChat && !isChannelId(chatId)) {
    const state = mediaType === 'ptt' ? 'recording' : 'composing';
    for (let left = how.delay; left > 0 && !signal.aborted; left -= renewEvery) {
      await performIn(cell, signal, 'chat.typing', { chatId, state });
      await pauseUnless(signal, ports.time, Math.min(left, renewEvery));
    }
    await performIn(cell, signal, 'chat.typing', { chatId, state: 'paused' });
  }
  if (!how.readChat && !how.readMessages) return;
  const messages = await ports.messages.unread(cell.record.id, chatId, readLimit);
  if (messages.length > 0) await performIn(cell, signal, 'chat.markRead', { chatId, messages });
}

/** Returns the message after the platform accepted it. */
const sentForm = (message: Message, { serverId }: AnswerOf<'message.transmit'>): Message => ({
  ...message,
  status: 'Sent',
  ...(serverId === undefined ? {} : { post: { ...newPost, ...message.post, serverId } }),
});

/** Returns the entry of a sent message. Only a post has a `serverId`. */
const sentEntry = (message: Message, { at, serverId }: AnswerOf<'message.transmit'>): Entry => ({
  ...(progress(message, 'Sent', at) as Extract<Entry, { kind: 'status' }>),
  ...(serverId === undefined ? {} : { serverId }),
});

/**
 * Writes a composed message. `to` overrides the id of the chat. Resolves with the sent message, after the first attempt to record it with the entries
 * of `further`. The caller records a failure.
 */
export async function transmit(
  cell: Sendable,
  signal: AbortSignal,
  message: Message,
  { to, further = () => [] }: { readonly to?: string; readonly further?: (sent: Message) => readonly Entry[] } = {},
): Promise<Result<Message>> {
  cell.typing.end(message.chatId);
  const answer = await performIn(cell, signal, 'message.transmit', { message, ...(to === undefined ? {} : { to }) });
  if (!answer.ok) return answer;
  const sent = sentForm(message, answer.value);
  await Promise.all([sentEntry(message, answer.value), ...further(sent)].map((entry) => cell.recorder.tell(entry)));
  return done(sent);
}

export interface SendNow {
  readonly send: Send;
  readonly options: SendOptions;
  readonly chatId: string;
  readonly key: IdempotencyKey | null;
}

/** Sends one message whose caller waits for the platform's answer. `release` starts the next message of the same chat. */
export async function sendNow(
  ports: SendPorts,
  cell: Sendable,
  signal: AbortSignal,
  { send, options, chatId, key }: SendNow,
  release: () => void,
): Promise<Result<Message>> {
  const whole = await filled(ports, cell, signal, send, chatId);
  if (!whole.ok) return whole;
  const composed = await performIn(cell, signal, 'message.compose', { send: whole.value, draft: null });
  if (!composed.ok) return composed;
  const drawn = labelled(composed.value, send, options);
  const used = key && usedBy(key, drawn, ports.time.now());
  await prepare(ports, cell, signal, drawn, options);
  // A message is not stored if its session closed during the typing, so that its sender may retry at once.
  if (signal.aborted) return notConnected;
  const message = await accept(cell, drawn, used);
  const further = (sent: Message): Entry[] => (used ? [{ kind: 'sendKey', key: usedBy(used, message, used.at, done(sent)) }] : []);
  const answer = transmit(cell, signal, message, { further });
  release();
  const sent = await answer;
  if (sent.ok) return sent;
  await giveUp(cell, message, 'Failed', sent.refusal.message);
  return settleFailure(cell, used, message, sent.refusal);
}
