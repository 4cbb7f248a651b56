/** What the gateway offers on messages and chats. */
import type { Chat, InstanceId, Message, Result } from '../model.ts';
import type { ChatQuery, MessageQuery, TextSend } from '../ports.ts';

/** Fields that every send has (contract/behaviour.md). */
export interface SendOptions {
  /** Milliseconds of visible typing before the send. */
  readonly delay: number;
  readonly readChat: boolean;
  readonly readMessages: boolean;
  readonly trackSource: string;
  readonly trackId: string;
  readonly async: boolean;
  /** What the client sent, base64 left out; comes back as `sendPayload`. */
  readonly payload: unknown;
}

export interface QueueView {
  readonly status: 'idle' | 'processing' | 'waiting_connection' | 'resetting';
  readonly pending: number;
  readonly processingNow: boolean;
  readonly acceptingNewMessages: boolean;
  readonly sessionReady: boolean;
  readonly resetting: boolean;
}

/** Sends and questions about what is stored. */
export interface MessageFace {
  sendText(id: InstanceId, send: TextSend, options: SendOptions): Promise<Result<Message>>;
  findMessages(id: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  findChats(
    id: InstanceId,
    query: ChatQuery,
  ): Promise<{ readonly chats: readonly Chat[]; readonly total: number; readonly stats: Readonly<Record<string, number>> }>;
  queue(id: InstanceId): Promise<QueueView>;
  /** Cancels what waits in the asynchronous queue; the number of cancelled messages. */
  clearQueue(id: InstanceId): Promise<Result<number>>;
}
