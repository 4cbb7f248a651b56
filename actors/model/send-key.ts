/** Keys under which a client repeats a send, or the making of a campaign, without doing it twice (header `Idempotency-Key`). */
import type { CreatedCampaign } from './campaign.ts';
import type { Message } from './message.ts';
import type { Result } from './result.ts';

/** What a client gave with its request, as digests: its key, and all of the request. */
export interface SendKey {
  readonly hash: string;
  /** Another request under the same key is refused. */
  readonly request: string;
}

/** What is done once under a key. The request names its call, so that a key never answers a call of one kind with the other. */
export type DoneOnce = Message | CreatedCampaign;

/** A key that was used; unique by (instance, hash). */
export interface UsedSendKey extends SendKey {
  /** The message, or the campaign. */
  readonly messageId: string;
  /** Unix milliseconds of the first request; 0: the key is free again. */
  readonly at: number;
  /** What the first request was answered; null while nobody knows what became of the message. The message comes without `raw` and `queuedSend`. */
  readonly answer: Result<DoneOnce> | null;
}
