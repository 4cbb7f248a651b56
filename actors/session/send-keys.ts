/** What becomes of a send's key: used with the message, then answered, or free again. */
import { refuse, type Message, type Refusal, type Result, type SendKey, type UsedSendKey } from '../model.ts';
import type { Cell } from './cell.ts';

/** A key with its message. What the answer is when `answer` is null, the message tells. */
export const usedBy = (key: SendKey, message: Message, at: number, answer: Result<Message> | null = null): UsedSendKey => ({
  ...key,
  messageId: message.messageId,
  at,
  answer: answer?.ok ? { ok: true, value: { ...answer.value, raw: null, queuedSend: null } } : answer,
});

/** The client may try again under the same key: nothing left the process. Resolves after the first try to record it. */
export const free = async (cell: Cell, key: UsedSendKey | null): Promise<void> => {
  if (key) await cell.recorder.tell({ kind: 'sendKey', key: { ...key, at: 0, answer: null } });
};

/**
 * A send failed after its message was accepted. The platform's no is the answer of the key; when nobody knows what happened the message will
 * tell; everything else left nothing behind. The refusal that the caller gets names a message that may have arrived.
 */
export async function settleFailure(cell: Cell, key: UsedSendKey | null, message: Message, refusal: Refusal): Promise<Result<Message>> {
  if (refusal.reason === 'unknown') return refuse('unknown', refusal.message, { ...refusal, messageId: message.messageId });
  const answer = { ok: false, refusal } as const;
  if (refusal.reason !== 'refused') await free(cell, key);
  else if (key) await cell.recorder.tell({ kind: 'sendKey', key: { ...key, answer } });
  return answer;
}
