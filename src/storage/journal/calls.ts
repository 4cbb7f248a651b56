/** The steps of a call as changes of its message. */
import type { Call } from '#actors/model.ts';
import { keyText } from '../postgres/parameters.ts';
import type { ChatLedger } from './chat-ledger.ts';
import { callChat, callContent, callMessage, type MessageLedger } from './message-ledger.ts';

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
