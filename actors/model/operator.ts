/**
 * Operators: the users of the dashboard with their roles, the audit log of their changes, and the alerts that they receive. A holder of the
 * admin token is no user.
 */
import type { InstanceId } from './instance.ts';

// Users and their roles.

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

/** The user of a session. `version` changes with the password, the role and the one-time codes. Each change ends the sessions of the former version. */
export interface SessionUser extends Pick<User, 'id' | 'name' | 'role' | 'hasCode'> {
  readonly version: string;
}

/** A session of the dashboard. Times in Unix milliseconds. */
export interface OpenSession {
  /** A hash of the cookie. The hash does not open the session. */
  readonly id: string;
  /** Null for a session that began with the admin token. */
  readonly user: Pick<User, 'id' | 'name' | 'role'> | null;
  /** The address of the client at sign-in; '' if a node of the previous release began the session. */
  readonly address: string;
  /** The time of the sign-in; 0 if a node of the previous release began the session. */
  readonly since: number;
  readonly until: number;
}

/**
 * The form of a name. Letters are in lower case, so that no two names differ in case alone. The first character is a letter or a digit, so that no
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

/**
 * The smallest and the largest length of a password, in characters. OWASP and NIST recommend a longer minimum without a second factor. The minimum is
 * shorter here, because people type the password.
 */
export const passwordLengths = { min: 12, max: 256 } as const;

/** Returns why a password is not accepted; null if it is accepted. */
export const passwordObjection = (password: string, name: string): string | null => {
  const length = [...password].length;
  if (length < passwordLengths.min || length > passwordLengths.max)
    return `the password must have ${passwordLengths.min} to ${passwordLengths.max} characters`;
  if (new Set(password).size < 4) return 'the password repeats the same characters';
  return password.toLowerCase().includes(name) && name.length >= 4 ? 'the password must not contain the name' : null;
};

// The audit log: one entry for each request that changed, or tried to change, data that operators set.

/** Kinds of callers. The name of a caller is a user's name, or the id of the instance whose token or code was used. The name is never a token. */
export const auditActors = ['adminToken', 'user', 'instanceToken', 'passkeyCode'] as const;

export type AuditActor = (typeof auditActors)[number];

/** The facts of one HTTP request for the audit log. */
export interface AuditNote {
  /** The time of the request. In Unix milliseconds. */
  readonly at: number;
  readonly actor: AuditActor;
  /** The name of the user, or the id of the instance; '' for the admin token. */
  readonly who: string;
  /** The address of the client, determined with the setting TRUSTED_PROXIES. */
  readonly address: string;
  readonly method: string;
  /** The pattern of the route, such as `/admin/refused/:instance/:id/retry`. The path itself may contain secrets, so only the pattern is stored. */
  readonly route: string;
  /** '' if the request is about no instance. */
  readonly instance: InstanceId;
  /** The user, the node or the session that the request is about; '' for none. */
  readonly subject: string;
  /** The status of the answer; 0 if the client disconnected before the answer. */
  readonly status: number;
}

export interface AuditEntry extends AuditNote {
  /** The id of the entry, which grows with time. The id is also the cursor of a page. */
  readonly id: number;
}

export interface AuditQuery {
  /** The name of a user, or the id of an instance whose token was used. */
  readonly who?: string;
  readonly actor?: AuditActor;
  readonly instance?: InstanceId;
  /** The range of times. `from` is included, `to` is not. In Unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
  /** Selects the entries with a lower id. */
  readonly before?: number;
  readonly limit: number;
}

export interface AuditPage {
  /** The latest first. */
  readonly entries: readonly AuditEntry[];
  /** The cursor of the next page; null on the last page. */
  readonly next: number | null;
}

// Alerts: the troubles that are reported to operators, the channels of the reports, and their settings.

export const alertKinds = ['session', 'receiver', 'disk', 'node'] as const;
export type AlertKind = (typeof alertKinds)[number];

export const alertChannels = ['email', 'telegram', 'slack', 'webhook'] as const;
export type AlertChannel = (typeof alertChannels)[number];

/** Ways to reach a mail server: `tls` from the first byte, `startTls` before the login, `none` without encryption. */
export const mailSecurities = ['tls', 'startTls', 'none'] as const;
type MailSecurity = (typeof mailSecurities)[number];

/** A condition that an operator has to know about. */
export interface Trouble {
  readonly kind: AlertKind;
  /** The id of the session or of the webhook, or the name of the node. */
  readonly key: string;
  /** The name of the session, the host of the receiver, or the name of the node; '' for a gateway without a cluster. */
  readonly name: string;
  /** A sentence, without secrets. */
  readonly reason: string;
  /** The time at which the trouble began. In Unix milliseconds. */
  readonly since: number;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: MailSecurity;
  /** '' for a server without a login. */
  readonly user: string;
}

/** The settings of alerts and of their channels, without the secrets of the channels. */
export interface AlertSettings {
  readonly kinds: readonly AlertKind[];
  /** The channels that are switched on. */
  readonly channels: readonly AlertChannel[];
  readonly email: MailServer & { readonly from: string; readonly to: readonly string[] };
  /** `url`: the address of a Bot API server. */
  readonly telegram: { readonly url: string; readonly chatId: string };
  /** The quiet hours; null for none. In minutes of the day. */
  readonly quiet: { readonly from: number; readonly to: number } | null;
  /** The time zone of the quiet hours; '' for the zone of the server. */
  readonly timeZone: string;
  /** The hours after which a trouble that persists is reported again; 0 for never. */
  readonly repeatHours: number;
  /** The minutes for which a circuit has to be open before its receiver is a trouble. */
  readonly receiverMinutes: number;
}

/** The names of the secrets of the channels. `webhookSecret` is the key that signs the posts; '' for unsigned posts. */
export const alertSecretNames = ['emailPassword', 'telegramToken', 'slackUrl', 'webhookUrl', 'webhookSecret'] as const;
export type AlertSecretName = (typeof alertSecretNames)[number];
export type AlertSecrets = Readonly<Record<AlertSecretName, string>>;

export const noAlertSecrets: AlertSecrets = { emailPassword: '', telegramToken: '', slackUrl: '', webhookUrl: '', webhookSecret: '' };

export const usualAlertSettings: AlertSettings = {
  kinds: alertKinds,
  channels: [],
  email: { host: '', port: 587, security: 'startTls', user: '', from: '', to: [] },
  telegram: { url: 'https://api.telegram.org', chatId: '' },
  quiet: null,
  timeZone: '',
  repeatHours: 24,
  receiverMinutes: 10,
};

/** One message to the operator, for all channels. */
export interface AlertMessage {
  /** The id of the message, which is stable over retries. */
  readonly id: string;
  /** The time of the message. In Unix milliseconds. */
  readonly at: number;
  /** The troubles, new troubles first. `repeated` marks troubles that an earlier message named. The list is cut to a readable number. */
  readonly troubles: readonly (Trouble & { readonly repeated: boolean })[];
  /** Troubles that ended. */
  readonly well: readonly Trouble[];
  /** The numbers of troubles before the lists were cut. */
  readonly counts: { readonly troubles: number; readonly well: number };
}

/** The outcome of one attempt to send an alert by a channel. */
export interface AlertAttempt {
  /** True if the channel accepted the message for at least one recipient. In that case there is no retry. */
  readonly sent: boolean;
  /** '' if the message reached all recipients. A sentence without addresses and secrets. */
  readonly error: string;
}
