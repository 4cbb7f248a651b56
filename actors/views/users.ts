/** Gateway methods for the people who operate the gateway, and for the audit log of their changes. */
import type { AuditNote, AuditPage, AuditQuery, Result, Role, SessionUser, User } from '../model.ts';

export interface NewUser {
  readonly name: string;
  readonly role: Role;
  readonly password: string;
}

export interface UserPatch {
  readonly role?: Role;
  readonly password?: string;
  /** Removes the one-time code, for a user who lost the phone. */
  readonly resetCode?: boolean;
}

export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** '' without one. */
  readonly code: string;
}

/** A one-time code that is being set up. The secret is stored after its first code was entered. */
export interface CodeOffer {
  /** Base 32, for typing. */
  readonly secret: string;
  readonly uri: string;
  /** The QR code of the address: PNG as a data URL. */
  readonly picture: string;
}

export interface UserFace {
  users(): Promise<readonly User[]>;
  createUser(user: NewUser): Promise<Result<User>>;
  /** Every change ends the sessions of the user. */
  updateUser(id: string, patch: UserPatch): Promise<Result<User>>;
  removeUser(id: string): Promise<Result<User>>;
  /**
   * Checks a name, a password and a one-time code. Every failure has the same refusal (`forbidden`), and takes as long for an unknown name as for a
   * known one. Refuses with `limited` after too many wrong guesses for a name.
   */
  authenticateUser(credentials: Credentials): Promise<Result<SessionUser>>;
  /** Replaces the own password. Ends the sessions of the user. */
  changePassword(id: string, old: string, password: string): Promise<Result<User>>;
  offerCode(id: string, password: string): Promise<Result<CodeOffer>>;
  /** Requires one-time codes from now on, if the code belongs to the secret. Ends the sessions of the user. */
  confirmCode(id: string, secret: string, password: string, code: string): Promise<Result<User>>;
  /** Stops requiring one-time codes. Ends the sessions of the user. */
  removeCode(id: string, password: string): Promise<Result<User>>;
}

export interface AuditFace {
  /** Stores a note soon. Returns at once and never throws. A kill loses the notes of the last second. */
  audit(note: AuditNote): void;
  auditPage(query: AuditQuery): Promise<AuditPage>;
}
