/** Users, their passwords and one-time codes. Secrets are sealed before they reach a statement. */
import type { SessionUser, User, Role } from '../model.ts';

/** A user with its secrets, for sign-ins. */
export interface UserRow extends User {
  /** The hash of the password; '' if it cannot be read any more. */
  readonly password: string;
  /** The shared secret of one-time codes; '' for none. */
  readonly codeSecret: string;
  /** A random text. Each change of the password, the role or the code replaces it. */
  readonly version: string;
  /** False if a secret cannot be opened. Such a user cannot sign in until an administrator resets the password and the code. */
  readonly readable: boolean;
}

export interface UserChange {
  readonly role?: Role;
  readonly password?: string;
  /** '' removes the one-time code. */
  readonly codeSecret?: string;
  /** The time step of the code that confirmed `codeSecret`. The code counts as used. */
  readonly codeStep?: number;
}

export interface UserStore {
  /** Returns all users by name. */
  all(): Promise<readonly User[]>;
  byName(name: string): Promise<UserRow | null>;
  byId(id: string): Promise<UserRow | null>;
  /** Adds a user without a one-time code. Answers `taken` if the name exists, and `full` if there are `most` users. */
  add(user: User & { readonly password: string; readonly version: string }, most: number): Promise<'added' | 'taken' | 'full'>;
  /**
   * Changes a user, gives it the new version and ends its sessions, in one statement. Returns null if there is no such user, or if `expected` is given
   * and is not its version any more.
   */
  change(id: string, change: UserChange, version: string, expected?: string): Promise<User | null>;
  /** Removes a user and its sessions. Returns null if there is none. */
  remove(id: string): Promise<User | null>;
  /**
   * Notes a sign-in, and marks the one-time code of this time step as used. Returns false if the user changed meanwhile, or if a code of this step or
   * of a later one was used before. `step` is null without a code.
   */
  signedIn(user: Pick<SessionUser, 'id' | 'version'>, at: number, step: number | null): Promise<boolean>;
}

/** Hashes of passwords. The work runs outside the event loop's thread. */
export interface Passwords {
  /** Resolves to a text that holds the algorithm, its parameters and the salt. Returns null if too many hashes wait. */
  hash(password: string): Promise<string | null>;
  /** Checks a password. The hash null stands for an unknown name, and its check takes as long as a real one. Returns null if too many hashes wait. */
  verify(password: string, hash: string | null): Promise<boolean | null>;
}

/** One-time codes by RFC 6238, as authenticator apps show them. */
export interface OneTimeCodes {
  /** Returns a random secret in base 32. */
  newSecret(): string;
  /** Returns the address that an authenticator app reads from a QR code. */
  uriOf(secret: string, name: string): string;
  /** Returns the time step of a code that is valid now; null for a wrong code. */
  stepOf(secret: string, code: string, now: number): number | null;
}
