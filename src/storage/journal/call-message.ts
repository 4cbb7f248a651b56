/** Calls as messages of their chat (specification 2.5, `messageType` of `call`): one message a call, which keeps how the call ended. */
import { type Call, type Chat, type ChatPatch, emptyMessage, type Message } from '#actors/model.ts';
import { callView } from '#src/contract/views.ts';
import { keyText } from '../postgres/texts.ts';
import type { ChatLedger } from './chat-ledger.ts';
import type { MessageLedger } from './message-ledger.ts';

/** The weight of each step of a call: a later step overrides the outcome of a lighter one. The phone's memory of a past call weighs most. */
const weights: Readonly<Record<string, number>> = { offer: 0, terminate: 1, timeout: 2, reject: 2, accept: 2 };
const weightOf = (status: unknown): number => (typeof status === 'string' ? (weights[status] ?? 3) : -1);

/** A call stands in its chat like a message without a text. */
const callChat = (call: Call): ChatPatch => ({
  chatId: call.chatId,
  isGroup: call.isGroup,
  lastMessageText: '',
  lastMessageType: 'call',
  lastMessageSender: call.caller.id,
  lastMessageTimestamp: call.at,
});

/** `chat` is the one of the call, as it is known by now. */
const callMessage = (call: Call, { chatLid, name, pushName, imagePreview }: Chat, id: string): Message => ({
  ...emptyMessage,
  id,
  messageId: call.id,
  chatId: call.chatId,
  chatLid,
  sender: call.caller.id,
  senderPn: call.caller.pn,
  senderLid: call.caller.lid,
  senderName: call.isGroup || call.fromMe === true ? '' : pushName,
  groupName: call.isGroup ? name : '',
  isGroup: call.isGroup,
  fromMe: call.fromMe ?? false,
  messageType: 'call',
  type: 'call',
  timestamp: call.at,
  content: callView(call),
  peer: { chatId: call.chatId, name, image: imagePreview },
});

/** The content after a further step of the call; null when the step says no more than what is known. The time stays that of the beginning. */
const callContent = (known: unknown, call: Call): Message['content'] | null => {
  const content = typeof known === 'object' && known !== null ? (known as Readonly<Record<string, unknown>>) : {};
  if (weightOf(call.status) <= weightOf(content['status'])) return null;
  return { ...content, ...callView(call), timestamp: content['timestamp'] ?? call.at };
};

interface CallParts {
  readonly messages: MessageLedger;
  readonly chats: ChatLedger;
  newId(): string;
}

/** Adds the message of a call, or changes it by a further step of the call. */
export const recordCall = (given: Call, { messages, chats, newId }: CallParts): void => {
  const call: Call = { ...given, id: keyText(given.id), chatId: keyText(given.chatId) };
  if (call.id === '' || call.chatId === '') return;
  const known = messages.find(call.id, call.chatId);
  if (known === null) {
    chats.patch(callChat(call));
    messages.add(callMessage(call, chats.orEmpty(call.chatId), newId().slice(0, 8)), false);
    return;
  }
  const content = callContent(known.value.content, call);
  if (content !== null) messages.revise(known, { content });
};
