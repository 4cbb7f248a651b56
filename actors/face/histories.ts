/** What the gateway offers on older messages, which only the phone has. */
import type { HistoryTransfer, InstanceId, Result } from '../model.ts';

export interface HistoryAsk {
  readonly number: string;
  /** The message before which the phone looks, in any form of its id; '' for the oldest stored one of the chat. */
  readonly messageId: string;
  /** Time and author of a message that is not stored; null when they are not given. Unix milliseconds. */
  readonly at: number | null;
  readonly fromMe: boolean;
  readonly count: number;
  /** '' for an id of the gateway's. */
  readonly requestId: string;
  /** Only before a message that is stored. */
  readonly exact: boolean;
  /** When the phone has nothing under one address of the chat, it is asked under the other. */
  readonly alternates: boolean;
  /** Milliseconds that the caller waits for the phone's answer; 0: not at all. */
  readonly wait: number;
}

/** One request to the phone. They are forgotten with the process: the messages that came are stored. */
export interface HistoryRequest {
  readonly id: string;
  readonly chatId: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** `unanswered`: the phone was silent for a minute; what it says later is stored all the same. */
  readonly state: 'pending' | 'answered' | 'unanswered';
  readonly answer: HistoryTransfer | null;
}

export interface HistoryView {
  /** What the phone handed over by itself since the process started. */
  readonly initial: { readonly messages: number; readonly progress: number | null };
  readonly requests: readonly HistoryRequest[];
}

export interface HistoryFace {
  /**
   * Asks the phone for older messages of a chat. They are stored and become `history` events. Refused with `conflict` when the id of the request is used,
   * with `notFound` when the message before which it shall look is not known.
   */
  requestHistory(id: InstanceId, ask: HistoryAsk): Promise<Result<HistoryRequest>>;
  histories(id: InstanceId): Promise<HistoryView>;
}
