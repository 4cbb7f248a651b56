/** Gateway methods for older messages, which only the phone has. */
import type { HistoryTransfer, InstanceId, Result } from '../model.ts';

export interface HistoryAsk {
  readonly number: string;
  /** The message before which the phone searches, in any form of its id; '' for the oldest stored message of the chat. */
  readonly messageId: string;
  /** The time of a message that is not stored. Unix milliseconds; null if not given. */
  readonly at: number | null;
  readonly fromMe: boolean;
  readonly count: number;
  /** The id of the request; '' for a generated one. */
  readonly requestId: string;
  /** True to search only before a stored message. */
  readonly exact: boolean;
  /** True to repeat the request under the alternative address of the chat if the phone finds nothing under the first. */
  readonly alternates: boolean;
  /** The time for which the caller waits for the phone's answer. In milliseconds; 0 for no wait. */
  readonly wait: number;
}

/** One request to the phone. Requests are lost when the process ends, but the received messages are stored. */
export interface HistoryRequest {
  readonly id: string;
  readonly chatId: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** The state. `unanswered`: the phone was silent for a minute. A later answer is still stored. */
  readonly state: 'pending' | 'answered' | 'unanswered';
  readonly answer: HistoryTransfer | null;
}

export interface HistoryView {
  /** The history that the phone transferred without a request since the process started. */
  readonly initial: { readonly messages: number; readonly progress: number | null };
  readonly requests: readonly HistoryRequest[];
}

export interface HistoryFace {
  /**
   * Requests older messages of a chat from the phone. The messages are stored and become `history` events. Refuses with `conflict` if the request id
   * is in use. `notFound`: the message before which the phone has to search is unknown.
   */
  requestHistory(id: InstanceId, ask: HistoryAsk): Promise<Result<HistoryRequest>>;
  histories(id: InstanceId): Promise<HistoryView>;
}
