/** Alerts: what an operator is told of, over which channels, and when. */

export const alertKinds = ['session', 'receiver', 'disk', 'node'] as const;
export type AlertKind = (typeof alertKinds)[number];

export const alertChannels = ['email', 'telegram', 'slack', 'webhook'] as const;
export type AlertChannel = (typeof alertChannels)[number];

/** Ways to reach a mail server: `tls` from the first byte, `startTls` before the login, `none` without encryption. */
export const mailSecurities = ['tls', 'startTls', 'none'] as const;
export type MailSecurity = (typeof mailSecurities)[number];

/** Something that needs a person. */
export interface Trouble {
  readonly kind: AlertKind;
  /** The id of the session or of the webhook, or the name of the node. */
  readonly key: string;
  /** The name of the session, the host of the receiver, or the name of the node; '' for a gateway without a cluster. */
  readonly name: string;
  /** A sentence, without secrets. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: MailSecurity;
  /** '' for a server without a login. */
  readonly user: string;
}

/** Settings of all channels, without their secrets. */
export interface AlertSettings {
  readonly kinds: readonly AlertKind[];
  /** The channels that are switched on. */
  readonly channels: readonly AlertChannel[];
  readonly email: MailServer & { readonly from: string; readonly to: readonly string[] };
  /** `url`: the address of a Bot API server. */
  readonly telegram: { readonly url: string; readonly chatId: string };
  /** Minutes of the day; null for none. */
  readonly quiet: { readonly from: number; readonly to: number } | null;
  /** The time zone of the quiet hours; '' for the zone of the server. */
  readonly timeZone: string;
  /** The hours after which a trouble that goes on is told again; 0 for never. */
  readonly repeatHours: number;
  /** The minutes for which a circuit has to be open before its receiver is a trouble. */
  readonly receiverMinutes: number;
}

/** Secrets by name. `webhookSecret` signs the posts, and '' signs none. */
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
  /** Stable over retries. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Troubles, new ones first; `repeated` marks those that were told before. Cut to a readable number. */
  readonly troubles: readonly (Trouble & { readonly repeated: boolean })[];
  /** Troubles that are over. */
  readonly well: readonly Trouble[];
  /** The numbers before the cut. */
  readonly counts: { readonly troubles: number; readonly well: number };
}

/** The outcome of one attempt. */
export interface AlertAttempt {
  /** True if the channel took the message, at least for one recipient. The message is not sent again then. */
  readonly sent: boolean;
  /** '' if it reached everybody. A sentence without addresses and secrets. */
  readonly error: string;
}
