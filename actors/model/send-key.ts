/** Idempotency keys, with which a client repeats a send or the creation of a campaign without doing it twice (header `Idempotency-Key`). */
import type { CreatedCampaign } from './campaign.ts';
import type { Message } from './message.ts';
import type { Result } from './result.ts';

/** Digests of the client's key and of the whole request. */
export interface SendKey {
  readonly hash: string;
  /** The digest of the request. Another request under the same key is refused. */
  readonly request: string;
}

/** The result of a request with a key. The request digest includes the call, so a key of one kind of call never answers another kind. */
export type DoneOnce = Message | CreatedCampaign;

/** A key that was used; unique by (instance, hash). */
export interface UsedSendKey extends SendKey {
  /** Id of the message or the campaign. */
  readonly messageId: string;
  /** The time of the first request. Unix milliseconds; 0 if the key is free again. */
  readonly at: number;
  /** The answer to the first request; null while the outcome is unknown. A message in it lacks `raw` and `queuedSend`. */
  readonly answer: Result<DoneOnce> | null;
}
