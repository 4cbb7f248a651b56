/** The message bus between nodes. */

export type BusAnswer =
  | { readonly kind: 'answered'; readonly body: Uint8Array }
  /** The subject has no subscriber, so no node received the request. */
  | { readonly kind: 'nobody' }
  /** The bus is not reachable, or the request is too large for the bus. Nothing was sent. */
  | { readonly kind: 'away' }
  /** A subscriber may have received the request. No answer came in time, or the bus was lost meanwhile. */
  | { readonly kind: 'late' };

export interface Bus {
  /**
   * Sends a request and waits for an answer, at most `ms` milliseconds. A request reaches every subscriber, possibly a former owner too. `counts`
   * returns false for an answer that does not end the wait. `counts` must not reject. Without `counts` the first answer ends the wait. Never rejects.
   */
  request(subject: string, body: Uint8Array, ms: number, counts?: (body: Uint8Array) => Promise<boolean>): Promise<BusAnswer>;
  /**
   * Subscribes to a subject and returns a function that ends the subscription. Requests that are in flight at the end are still answered.
   * Subscriptions outlive a lost connection. `answer` must not reject.
   */
  subscribe(subject: string, answer: (body: Uint8Array) => Promise<Uint8Array>): () => void;
  /** Publishes to all other nodes that listen to the subject now. Publications during an outage of the bus are lost. Never throws. */
  publish(subject: string, body: Uint8Array): void;
  /** Resolves when the server has received all publications, or when the bus is not connected. Never rejects. */
  flush(): Promise<void>;
  /** Listens to a subject and returns a function that ends the listening. Publications of one node arrive in order. `take` must not throw. */
  listen(subject: string, take: (body: Uint8Array) => void): () => void;
  /** False while the server is not reachable or refuses this node. */
  readonly connected: boolean;
  /** True if publications to retained subjects can be read later. */
  readonly keeps: boolean;
  /** Returns the retained publications of the subject, oldest first; null if the bus cannot read them. Never rejects. */
  kept(subject: string): Promise<readonly Uint8Array[] | null>;
  /** Returns the last retained publication; null if there is none or it cannot be read. Never rejects. */
  lastKept(subject: string): Promise<Uint8Array | null>;
  /** Closes the bus after earlier answers have been sent. Idempotent. */
  close(): Promise<void>;
}
