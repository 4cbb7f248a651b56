/** The life of a send key: used with the message, then answered or freed. */
import { refuse, type Message, type Refusal, type Result, type SendKey, type UsedSendKey } from '../model.ts';
import type { Cell } from './cell.ts';

/** Binds a key to its message. If `answer` is null, the message itself gives the answer. */
export const usedBy = (key: SendKey, message: Message, at: number, answer: Result<Message> | null = null): UsedSendKey => ({
  ...key,
  messageId: message.messageId,
  at,
  answer: answer?.ok ? { ok: true, value: { ...answer.value, raw: null, queuedSend: null } } : answer,
});

/** The time of a key that counts no more. The expiry removes its row at the next turn. */
export const freedAt = 0;

/** The client may try again under the same key: nothing left the process. Resolves after the first try to record it. */
export const free = async (cell: Cell, key: UsedSendKey | null): Promise<void> => {
  if (key) await cell.recorder.tell({ kind: 'sendKey', key: { ...key, at: freedAt, answer: null } });
};

/**
 * Settles a send that failed after acceptance. A refusal of the platform becomes the answer of the key. If the outcome is unknown, the status of the
 * message tells the outcome later. After any other failure nothing left, and the key is freed. The refusal for the caller names a message that may
 * have arrived.
 */
export async function settleFailure(cell: Cell, key: UsedSendKey | null, message: Message, refusal: Refusal): Promise<Result<Message>> {
  if (refusal.reason === 'unknown') return refuse('unknown', refusal.message, { ...refusal, messageId: message.messageId });
  const answer = { ok: false, refusal } as const;
  if (refusal.reason !== 'refused') await free(cell, key);
  else if (key) await cell.recorder.tell({ kind: 'sendKey', key: { ...key, answer } });
  return answer;
}
