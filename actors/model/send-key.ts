/** Keys under which a client repeats a send without sending twice (header `Idempotency-Key`). */
import type { Message } from './message.ts';
import type { Result } from './result.ts';

/** What a client gave with a send, as digests: its key, and all of the request. */
export interface SendKey {
  readonly hash: string;
  /** Another request under the same key is refused. */
  readonly request: string;
}

/** A key that was used; unique by (instance, hash). */
export interface UsedSendKey extends SendKey {
  readonly messageId: string;
  /** Unix milliseconds of the first request; 0: the key is free again. */
  readonly at: number;
  /** What the first request was answered; null while nobody knows what became of the message. The message comes without `raw` and `queuedSend`. */
  readonly answer: Result<Message> | null;
}
