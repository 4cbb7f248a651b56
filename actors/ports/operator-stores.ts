/** Storage for the operators of the server: users and their sign-ins, the audit log, alerts, and the figures of nodes by the minute. */
import type {
  AlertAttempt,
  AlertSecrets,
  AlertSettings,
  AuditNote,
  AuditPage,
  AuditQuery,
  MailServer,
  OpenSession,
  Role,
  SessionUser,
  Trouble,
  User,
} from '../model.ts';

// Users, their passwords and one-time codes. Secrets are sealed before they reach a statement.

/** A user with its secrets, for sign-ins. */
export interface UserRow extends User {
  /** The hash of the password; '' if the stored hash cannot be decrypted. */
  readonly password: string;
  /** The shared secret of one-time codes; '' for none. */
  readonly codeSecret: string;
  /** A random text. Each change of the password, the role or the code replaces it. */
  readonly version: string;
  /** False if a secret cannot be decrypted. Such a user cannot sign in until an administrator resets the password and the code. */
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
   * Changes a user, stores the new version, and ends the sessions of the user, in one statement. Returns null if there is no such user, or if `expected`
   * is given and differs from the stored version.
   */
  change(id: string, change: UserChange, version: string, expected?: string): Promise<User | null>;
  /** Removes a user and its sessions. Returns the removed user; null if there is none. */
  remove(id: string): Promise<User | null>;
  /**
   * Records a sign-in, and marks the one-time code of this time step as used. Returns false if the user changed meanwhile, or if a code of this step
   * or of a later one was used before. `step` is null without a code.
   */
  signedIn(user: Pick<SessionUser, 'id' | 'version'>, at: number, step: number | null): Promise<boolean>;
}

/** Hashes of passwords. The work runs outside the event loop's thread. */
export interface Passwords {
  /** Resolves to a text that contains the hash, the algorithm, its parameters and the salt; null if too many hashes wait. */
  hash(password: string): Promise<string | null>;
  /**
   * Checks a password. A hash of null means an unknown name, and its check takes as long as the check of a real hash. Resolves to null if too
   * many hashes wait.
   */
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

// Sign-ins to the dashboard. A sign-in is valid on every node of a cluster. Times are measured by the database's clock. Durations are in milliseconds.

export interface SignIn {
  /** A hash of the cookie's value. */
  readonly key: string;
  /** The fingerprint of the admin token at sign-in, or the version of the user. The sign-in is valid until the token or the version changes. */
  readonly admin: string;
  /** Null for a sign-in with the admin token. */
  readonly userId: string | null;
  /** The address of the client at sign-in. */
  readonly address: string;
}

export interface FoundSignIn {
  /** The remaining validity of the sign-in. In milliseconds. */
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
  /** Returns the valid sign-in of a key, or null. `admin`: the fingerprint of the current admin token. */
  find(key: string, admin: string): Promise<FoundSignIn | null>;
  /** Returns the keys whose sign-ins are still valid. `admin` as in `find`. */
  valid(keys: readonly string[], admin: string): Promise<readonly string[]>;
  /** Returns the valid sign-ins, the latest first. */
  list(admin: string): Promise<readonly OpenSession[]>;
  /** Ends the sign-in. Idempotent. Returns false if there was no such sign-in. */
  end(key: string): Promise<boolean>;
}

/** The stored audit log. */
export interface AuditStore {
  /** Adds the entries in their order. */
  add(notes: readonly AuditNote[]): Promise<void>;
  find(query: AuditQuery): Promise<AuditPage>;
  /**
   * Removes at most `limit` entries, and returns their number: entries from before `before` (Unix milliseconds), and the oldest beyond `most` entries. Entries
   * of instance tokens are counted apart from those of administrators, so that requests with a token cannot displace the entries of administrators.
   */
  expire(before: number, most: number, limit: number): Promise<number>;
}

// The settings and the state of alerts, the troubles that each node reports, and the mail server that takes alerts.

export interface AlertRow {
  readonly settings: AlertSettings;
  /** The secrets, which are sealed at rest. A secret that cannot be decrypted is ''. */
  readonly secrets: AlertSecrets;
  /** An id of the stored secrets. Each write of the secrets changes the id. */
  readonly revision: string;
  /** The last stored state; null before the first. The value in a damaged row can have any form. */
  readonly state: unknown;
  /** Grows with each stored state. */
  readonly version: number;
}

/** The troubles that one node sees. Times in Unix milliseconds. */
export interface TroubleReport {
  readonly node: string;
  readonly at: number;
  /** The start of the process of the node. */
  readonly startedAt: number;
  readonly troubles: readonly Trouble[];
}

export interface AlertStore {
  /** Returns null if alerts were never set up. */
  read(): Promise<AlertRow | null>;
  /**
   * Stores settings and secrets. The state stays. Returns false, and stores nothing, if other secrets were stored since the read of `revision`.
   * `revision` is '' if nothing was stored at that read.
   */
  save(settings: AlertSettings, secrets: AlertSecrets, revision: string): Promise<boolean>;
  /** Stores the state if `version` is still the stored version. Returns false if another node stored a state first. */
  saveState(state: object, version: number): Promise<boolean>;
  /** Replaces the report of a node. */
  report(report: TroubleReport): Promise<void>;
  /** Returns the reports of all nodes since this time, and removes older reports. */
  reports(since: number): Promise<readonly TroubleReport[]>;
}

export interface Mail {
  readonly id: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Hands a mail to a server, within a time limit. Never rejects. */
  send(server: MailServer & { readonly password: string }, mail: Mail): Promise<AlertAttempt>;
}

// Figures of nodes by the minute, and the counters from which the figures are read.

/** Counters of this process since its start. */
export interface Totals {
  /** Messages from others (`received`), and messages of the account, by the API or on the phone (`sent`). */
  readonly received: number;
  readonly sent: number;
  /** Posts to receivers: with a 2xx answer (`delivered`), and all others (`failed`). */
  readonly delivered: number;
  readonly failed: number;
  /** Lost sessions that became live again. */
  readonly reconnects: number;
}

/** The figures of a node over one period. Counters are sums, and `memoryBytes` and `loopMs` are the highest values. */
export interface FigureRow extends Totals {
  /** The minute in which the counters were last read: Unix milliseconds divided by 60,000. */
  readonly minute: number;
  /** The time that the counters cover. In milliseconds. */
  readonly spanMs: number;
  readonly memoryBytes: number;
  /** 99th percentile of the event loop's delay. In milliseconds. */
  readonly loopMs: number;
}

/** Figures of one node, within one step of a query. `minute` is the first minute of the step. */
export type FigureStep = FigureRow & { readonly node: string };

export interface FigureStore {
  /** Stores rows of a node. Idempotent, because a row replaces the row of the same node and minute. The rows must have different minutes. */
  put(node: string, rows: readonly FigureRow[]): Promise<void>;
  /**
   * Returns the figures of all nodes from minute `from` to minute `to`, sorted by node and time. Each row covers `step` minutes. Returns at most
   * `limit` rows.
   */
  find(query: {
    readonly from: number;
    readonly to: number;
    readonly step: number;
    readonly limit: number;
  }): Promise<readonly FigureStep[]>;
  /**
   * Removes at most `limit` rows: rows from before `before` (Unix milliseconds), and rows from more than two days after `before`, which a clock that was
   * ahead wrote. Returns the number of removed rows.
   */
  expire(before: number, limit: number): Promise<number>;
}
