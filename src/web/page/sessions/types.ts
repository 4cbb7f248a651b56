/** The server's data about sessions that the page reads. The file has types only, and the browser does not load it. */

export type Status = 'connected' | 'connecting' | 'hibernated' | 'disconnected';

/** The groups by which the page counts and filters sessions. `person`: disconnected until a person acts. */
export type Group = Status | 'person';

/** One session in the list. Times are Unix milliseconds, and 0 means never. */
export interface Row {
  readonly id: string;
  name: string;
  /** The last four digits of the phone number, such as `…1234`; '' without an account. */
  number: string;
  /** The version of the picture, which changes with the picture; '' without a picture. */
  picture: string;
  status: Status;
  /** The path of the state in the chart, such as `connecting.waiting`. */
  state: string;
  needsPerson: boolean;
  /** True if the session has credentials. */
  linked: boolean;
  since: number;
  /** The reason why the session is not connected; '' if the session has no problem. */
  reason: string;
  cause: string;
  lastEvent: number;
  /** The number of messages that wait to be sent. */
  queue: number;
  /** The number of deliveries that wait for their webhooks. */
  outbox: number;
  /** The states of the last hour as 24 letters, oldest first. */
  hour: string;
  /** The node of the session; '' if no node has the session. Absent on a single gateway. */
  node?: string;
}

export interface RowPage {
  readonly total: number;
  readonly rows: Row[];
  /** The `after` of the next page; '' on the last page. */
  readonly next: string;
  /** The names of the nodes that did not answer. */
  readonly silent?: readonly string[];
  /** Warnings about the server that a person should check. */
  readonly warnings?: readonly string[];
}

/** The progress of linking with a passkey. */
export interface PasskeyNotice {
  readonly stage: 'assertion' | 'phone' | 'code';
  /** The code that the phone shows too; '' before there is one. */
  readonly code: string;
  /** The time at which the stage ends by itself, such as `2026-07-01 10:00:00.000Z`. */
  readonly expires: string;
}

/** An answer about a session. */
export interface SessionAnswer {
  readonly instance: SessionView;
  readonly status?: { readonly passkey?: PasskeyNotice };
}

/** One session, as the calls of the API return it, without its token. */
export interface SessionView {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  /** The QR code as a data URL; '' while there is none. */
  readonly qrcode: string;
  readonly paircode: string;
  readonly owner: string;
  readonly profileName: string;
  readonly lastDisconnectReason: string;
}
