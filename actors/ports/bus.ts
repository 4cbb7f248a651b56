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
  /** Never rejects. Milliseconds. */
  request(subject: string, body: Uint8Array, ms: number): Promise<BusAnswer>;
  /**
   * `answer` must not reject. Subscriptions outlive a bus that is away. Answers with what ends this one; requests that were on their way by then are
   * answered too.
   */
  subscribe(subject: string, answer: (body: Uint8Array) => Promise<Uint8Array>): () => void;
  /** To all other nodes that listen to the subject now. What leaves while the bus is away is lost. Never throws. */
  publish(subject: string, body: Uint8Array): void;
  /** What one node publishes comes in its order. `take` must not throw. Answers with what ends this. */
  listen(subject: string, take: (body: Uint8Array) => void): () => void;
  /** Whether what is published to subjects that are kept can be read later. */
  readonly keeps: boolean;
  /** What was published to the subject lately, oldest first; null when it cannot be read. Never rejects. */
  kept(subject: string): Promise<readonly Uint8Array[] | null>;
  /** The last of it; null when there is none, or it cannot be read. Never rejects. */
  lastKept(subject: string): Promise<Uint8Array | null>;
  /** What was answered before has left. Idempotent. */
  close(): Promise<void>;
}
