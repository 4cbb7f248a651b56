/** What carries commands from one node to another. */

export type BusAnswer =
  | { readonly kind: 'answered'; readonly body: Uint8Array }
  /** Nobody subscribes to the subject: nobody got the request. */
  | { readonly kind: 'nobody' }
  /** The bus is not reachable, or the request is too large for it: nothing left. */
  | { readonly kind: 'away' }
  /** Somebody may have got the request; no answer came in time, or the bus went away meanwhile. */
  | { readonly kind: 'late' };

export interface Bus {
  /**
   * Never rejects. Milliseconds. `counts` returns false for an answer after which another one is waited for: a request reaches every subscriber, and a
   * former owner may be one of them. It must not reject; without it the first answer counts.
   */
  request(subject: string, body: Uint8Array, ms: number, counts?: (body: Uint8Array) => Promise<boolean>): Promise<BusAnswer>;
  /**
   * `answer` must not reject. Subscriptions outlive a bus that is away. Answers with what ends this one; requests that were on their way by then are
   * answered too.
   */
  subscribe(subject: string, answer: (body: Uint8Array) => Promise<Uint8Array>): () => void;
  /** To all other nodes that listen to the subject now. What leaves while the bus is away is lost. Never throws. */
  publish(subject: string, body: Uint8Array): void;
  /** Resolves when the server has what was published, or the bus is away. Never rejects. */
  flush(): Promise<void>;
  /** What one node publishes comes in its order. `take` must not throw. Answers with what ends this. */
  listen(subject: string, take: (body: Uint8Array) => void): () => void;
  /** False while the server is not reached, or does not take this node. */
  readonly connected: boolean;
  /** Whether what is published to subjects that are kept can be read later. */
  readonly keeps: boolean;
  /** What was published to the subject lately, oldest first; null when it cannot be read. Never rejects. */
  kept(subject: string): Promise<readonly Uint8Array[] | null>;
  /** The last of it; null when there is none, or it cannot be read. Never rejects. */
  lastKept(subject: string): Promise<Uint8Array | null>;
  /** What was answered before has left. Idempotent. */
  close(): Promise<void>;
}
