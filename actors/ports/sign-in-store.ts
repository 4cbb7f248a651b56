/** Sign-ins to the dashboard. A sign-in is valid on every node of a cluster. Times are the database's own. Durations are in milliseconds. */
import type { OpenSession, SessionUser } from '../model.ts';

export interface SignIn {
  /** A hash of the cookie's value. */
  readonly key: string;
  /** The fingerprint of the admin token at sign-in, or the version of the user. The sign-in is valid as long as the fingerprint or the version is. */
  readonly admin: string;
  /** Null for a sign-in with the admin token. */
  readonly userId: string | null;
  /** The address of the client at sign-in. */
  readonly address: string;
}

export interface FoundSignIn {
  /** Remaining time. In milliseconds. */
  readonly left: number;
  /** Null for a sign-in with the admin token. */
  readonly user: SessionUser | null;
}

export interface SignInStore {
  /**
   * Adds a sign-in that ends after `ms`. Keeps only the `most` sign-ins that end last, and at most a twentieth of them for one user. Returns false if
   * the version of the user has changed.
   */
  add(signIn: SignIn, ms: number, most: number): Promise<boolean>;
  /** Returns the valid sign-in of a key, or null. `admin` is the fingerprint of the current admin token, here and below. */
  find(key: string, admin: string): Promise<FoundSignIn | null>;
  /** Returns the keys that are still valid. */
  valid(keys: readonly string[], admin: string): Promise<readonly string[]>;
  /** Returns the valid sign-ins, the latest first. */
  list(admin: string): Promise<readonly OpenSession[]>;
  /** Ends the sign-in. Idempotent. Returns false if there was none. */
  end(key: string): Promise<boolean>;
}
