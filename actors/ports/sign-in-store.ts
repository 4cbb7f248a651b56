/** Sign-ins to the dashboard that count on every node of a cluster. Times are the database's own; durations are milliseconds. */

export interface SignIn {
  /** A hash of what the cookie holds. */
  readonly key: string;
  /** Names the admin token that it was made with: it counts while that one does. */
  readonly admin: string;
}

export interface SignInStore {
  /** Keeps `most` of them: those that end last. */
  add(signIn: SignIn, ms: number, most: number): Promise<void>;
  /** How long it still counts; 0 when it does not. */
  left(signIn: SignIn): Promise<number>;
  /** Those that still count. */
  valid(keys: readonly string[], admin: string): Promise<readonly string[]>;
  /** Idempotent. */
  end(key: string): Promise<void>;
}
