/** People who operate the gateway: named users with a role. A holder of the admin token is no user. */

/** Roles from the least to the greatest. A role may do everything that the roles before it may do. */
export const roles = ['viewer', 'operator', 'administrator'] as const;

export type Role = (typeof roles)[number];

/** Returns true if the role has at least the rights of `least`. */
export const mayAct = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

/** A user as administrators see it. Times in Unix milliseconds. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** True if a sign-in needs a one-time code beside the password. */
  readonly hasCode: boolean;
  readonly createdAt: number;
  /** 0 before the first sign-in. */
  readonly lastSignInAt: number;
}

/** The user of a session. `version` changes with the password, the role and the one-time codes, and ends the sessions of the version before. */
export interface SessionUser extends Pick<User, 'id' | 'name' | 'role' | 'hasCode'> {
  readonly version: string;
}

/** A session of the dashboard. Times in Unix milliseconds. */
export interface OpenSession {
  /** A hash of the cookie. It opens no session. */
  readonly id: string;
  /** Null for a session that began with the admin token. */
  readonly user: Pick<User, 'id' | 'name' | 'role'> | null;
  /** The address of the client at sign-in; '' for a session that a node of the last release began. */
  readonly address: string;
  /** The time of the sign-in; 0 for a session that a node of the last release began. */
  readonly since: number;
  readonly until: number;
}

/**
 * The form of a name. Letters are in lower case, so that no two names differ in case alone. The first sign is a letter or a digit, so that no
 * spreadsheet reads a name as a formula.
 */
const namePattern = /^[a-z0-9][a-z0-9._@-]{0,63}$/;

/** Returns the name as it is stored. */
export const userNameOf = (given: string): string => given.trim().toLowerCase();

/** Returns why a stored name is not valid; null if it is valid. */
export const nameObjection = (name: string): string | null =>
  namePattern.test(name)
    ? null
    : 'name must have 1 to 64 letters a to z, digits, dots, hyphens, underscores or @, and begin with a letter or digit';

/** Lengths of a password in characters. The least is below the length that OWASP and NIST recommend without a second factor, because people type it. */
export const passwordLengths = { min: 12, max: 256 } as const;

/** Returns why a password is not accepted; null if it is accepted. */
export const passwordObjection = (password: string, name: string): string | null => {
  const length = [...password].length;
  if (length < passwordLengths.min || length > passwordLengths.max)
    return `the password must have ${passwordLengths.min} to ${passwordLengths.max} characters`;
  if (new Set(password).size < 4) return 'the password repeats the same characters';
  return password.toLowerCase().includes(name) && name.length >= 4 ? 'the password must not contain the name' : null;
};
