/** Sign-ins to the dashboard. A sign-in is valid on every node of a cluster. Times are the database's own. Durations are in milliseconds. */

export interface SignIn {
  /** A hash of the cookie's value. */
  readonly key: string;
  /** The fingerprint of the admin token at sign-in. The sign-in is valid as long as that token. */
  readonly admin: string;
}

export interface SignInStore {
  /** Adds a sign-in that ends after `ms`. Keeps only the `most` sign-ins that end last. */
  add(signIn: SignIn, ms: number, most: number): Promise<void>;
  /** Returns the remaining time of the sign-in; 0 if the sign-in is not valid. */
  left(signIn: SignIn): Promise<number>;
  /** Returns the keys that are still valid. */
  valid(keys: readonly string[], admin: string): Promise<readonly string[]>;
  /** Ends the sign-in. Idempotent. */
  end(key: string): Promise<void>;
}
