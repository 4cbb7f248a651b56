/** Gateway methods for the people who operate the gateway: users and the audit log, alerts, and the figures of the last day. */
import type {
  AlertAttempt,
  AlertChannel,
  AlertSecretName,
  AlertSecrets,
  AlertSettings,
  AuditNote,
  AuditPage,
  AuditQuery,
  Result,
  Role,
  SessionUser,
  Trouble,
  User,
} from '../model.ts';

// Gateway methods for the people who operate the gateway, and for the audit log of their changes.

interface NewUser {
  readonly name: string;
  readonly role: Role;
  readonly password: string;
}

interface UserPatch {
  readonly role?: Role;
  readonly password?: string;
  /** True to remove the one-time code, for a user who lost the phone. */
  readonly resetCode?: boolean;
}

export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** The one-time code; '' for none. */
  readonly code: string;
}

/** The secret of one-time codes that a user sets up. The secret is stored only when `confirmCode` receives a valid code. */
interface CodeOffer {
  /** The secret in base 32, for users who type it. */
  readonly secret: string;
  readonly uri: string;
  /** The QR code of `uri`, as the data URL of a PNG. */
  readonly picture: string;
}

export interface UserMethods {
  users(): Promise<readonly User[]>;
  createUser(user: NewUser): Promise<Result<User>>;
  /** Changes a user, and ends the sign-ins of the user. */
  updateUser(id: string, patch: UserPatch): Promise<Result<User>>;
  removeUser(id: string): Promise<Result<User>>;
  /**
   * Checks a name, a password and a one-time code. Every failure has the same refusal (`forbidden`), and takes as long for an unknown name as for a
   * known name. Refuses with `limited` after too many wrong guesses for a name.
   */
  authenticateUser(credentials: Credentials): Promise<Result<SessionUser>>;
  /** Replaces the password of the user, after a check of the old one. Ends the sign-ins of the user. */
  changePassword(id: string, old: string, password: string): Promise<Result<User>>;
  offerCode(id: string, password: string): Promise<Result<CodeOffer>>;
  /** Stores the secret and requires one-time codes from now on, if `code` is valid. Ends the sign-ins of the user. */
  confirmCode(id: string, secret: string, password: string, code: string): Promise<Result<User>>;
  /** Stops requiring one-time codes. Ends the sign-ins of the user. */
  removeCode(id: string, password: string): Promise<Result<User>>;
}

export interface AuditMethods {
  /** Queues a note for storage. Returns at once and never throws. A kill loses the notes of the last second. */
  audit(note: AuditNote): void;
  auditPage(query: AuditQuery): Promise<AuditPage>;
}

// Gateway methods for alerts.

export interface AlertView {
  readonly settings: AlertSettings;
  /** Names of the secrets that are set. */
  readonly secrets: readonly AlertSecretName[];
  /** At most 100 of the current troubles. `total` is the number of all. `toldAt`: the time of the last message about the trouble; null before the first. */
  readonly troubles: readonly (Trouble & { readonly toldAt: number | null })[];
  readonly total: number;
  /** The last attempt of each channel, and the number of messages that wait for the channel. Times in Unix milliseconds. */
  readonly outcomes: readonly { readonly channel: AlertChannel; readonly at: number; readonly error: string; readonly waiting: number }[];
}

export interface AlertMethods {
  alerts(): Promise<AlertView>;
  /** Replaces the settings. An absent secret keeps its value, and '' removes a secret. Refuses with `invalid` and the reason. */
  saveAlerts(settings: AlertSettings, secrets: Partial<AlertSecrets>): Promise<Result<AlertView>>;
  /** Sends a test message over one channel at once. */
  testAlert(channel: AlertChannel): Promise<Result<AlertAttempt>>;
}

// Gateway methods for the figures of the last day.

/** The retention time of figures: a day, because the dashboard shows a day. In milliseconds. */
export const figuresKeptMs = 86_400_000;

export const figureNames = ['received', 'sent', 'delivered', 'failed', 'reconnects', 'memoryBytes', 'loopMs'] as const;
type FigureName = (typeof figureNames)[number];

/** The figures of one node. Each list has one value for each step; null if the node has no figures of that step. */
export type NodeSteps = Readonly<Record<FigureName | 'seconds', readonly (number | null)[]>> & {
  /** '' for a gateway without a cluster. */
  readonly name: string;
};

interface FigureHistory {
  /** The beginning of the first step. In Unix milliseconds. */
  readonly from: number;
  /** The length of a step. In minutes. */
  readonly step: number;
  /** The number of steps. The last step is not over yet. */
  readonly steps: number;
  readonly nodes: readonly NodeSteps[];
}

export interface FigureMethods {
  /** Returns the figures of all nodes over the last `hours` hours, from 1 to 24. */
  figureHistory(hours: number): Promise<FigureHistory>;
}
