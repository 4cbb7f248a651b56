/** What the gateway offers on messages and chats. */
import type { AiMetadata, Chat, ChatStats, InstanceId, Message, Preparation, Receipt, ReceiptCounts, Result, Send } from '../model.ts';
import type { AnswerOf, ChatQuery, InputOf, MessageQuery, OperationName, ReceiptQuery, TypingState } from '../ports.ts';

/** A client's own key for one request, and the whole request as text. */
export interface GivenKey {
  readonly key: string;
  readonly request: string;
}

/** Fields that every send has beside what is sent (contract/behaviour.md). */
export interface SendOptions extends Preparation {
  readonly trackSource: string;
  readonly trackId: string;
  /** Store the message and answer; it goes out when its turn comes. */
  readonly async: boolean;
  /** The operation of the interface that was called; comes back as `sendFunction`. */
  readonly label: string;
  /** What the client sent, base64 left out; comes back as `sendPayload`. */
  readonly payload: unknown;
  /** Of a message of a campaign: which one, and the position of its recipient. */
  readonly folder?: { readonly id: string; readonly position: number };
  /** The client's own key for this send. The same key again gives the first answer and sends nothing. */
  readonly once?: GivenKey;
  /** Of a message that an agent wrote. */
  readonly aiMetadata?: AiMetadata;
}

/** What became of one id of `markRead`. `error`: '' when it is marked. */
export interface MarkedMessage {
  readonly id: string;
  readonly error: string;
}

export interface QueueView {
  readonly status: 'idle' | 'processing' | 'waiting_connection' | 'resetting';
  readonly pending: number;
  readonly processingNow: boolean;
  readonly acceptingNewMessages: boolean;
  /** Unix milliseconds; absent unless a message waits for the pace of the instance. */
  readonly nextAt?: number;
  readonly sessionReady: boolean;
  readonly resetting: boolean;
}

/** Sends and questions about what is stored. */
export interface MessageFace {
  /** Sends a message of any kind. Messages to one chat leave in the order of the calls, whichever way the chat is spelled. */
  send(id: InstanceId, send: Send, options: SendOptions): Promise<Result<Message>>;
  /** Asks the platform: any operation that is one request. A sleeping session is woken. */
  perform<N extends OperationName>(id: InstanceId, name: N, input: InputOf<N>): Promise<Result<AnswerOf<N>>>;
  /** Marks messages as read, named by any form of their ids; one outcome for each id. Receipts go out for those that others wrote. */
  markRead(id: InstanceId, ids: readonly string[]): Promise<Result<readonly MarkedMessage[]>>;
  /**
   * Shows typing or recording in a chat and keeps it up for `delay` milliseconds, or until a message to that chat is sent. Resolves when it is shown
   * first. `paused` ends what is kept up.
   */
  showTyping(id: InstanceId, number: string, state: TypingState, delay: number): Promise<Result<null>>;
  /**
   * What the members of a group confirmed of an own message, named by any form of its id. Refused (`notFound`, `invalid`) for a message that is not known,
   * or is no own one in a group.
   */
  receipts(
    id: InstanceId,
    messageId: string,
    page: Omit<ReceiptQuery, 'messageId'>,
  ): Promise<
    Result<{ readonly message: Message; readonly receipts: readonly Receipt[]; readonly more: boolean; readonly counts: ReceiptCounts }>
  >;
  findMessages(id: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  findChats(
    id: InstanceId,
    query: ChatQuery,
  ): Promise<{ readonly chats: readonly Chat[]; readonly total: number; readonly stats: ChatStats }>;
  queue(id: InstanceId): Promise<QueueView>;
  /**
   * Deletes a message for everybody, named by any form of its id; one that waits in the asynchronous queue is cancelled, which needs no session.
   * `at`: Unix milliseconds. Refused (`conflict`) while the message is being sent, and as `message.delete` is.
   */
  deleteMessage(id: InstanceId, messageId: string): Promise<Result<AnswerOf<'message.delete'>>>;
  /** Cancels what waits in the asynchronous queue; the number of cancelled messages. */
  clearQueue(id: InstanceId): Promise<Result<number>>;
}
