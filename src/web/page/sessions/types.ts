/** The server's data about sessions, as far as the page reads them. Types only: the browser gets no file of this name. */

export type Status = 'connected' | 'connecting' | 'hibernated' | 'disconnected';

/** The groups by which the page counts and filters. `person`: disconnected until a person acts. */
export type Group = Status | 'person';

/** One session in the list. Times in Unix milliseconds, 0 for never. */
export interface Row {
  readonly id: string;
  name: string;
  /** The last four digits, such as `…1234`; '' without an account. */
  number: string;
  /** Another one for another picture; '' without one. */
  picture: string;
  status: Status;
  /** Path in the chart, such as `connecting.waiting`. */
  state: string;
  needsPerson: boolean;
  /** It has credentials. */
  linked: boolean;
  since: number;
  /** The reason why the session is not connected; '' if nothing is wrong. */
  reason: string;
  cause: string;
  lastEvent: number;
  /** Messages that wait to be sent. */
  queue: number;
  /** Deliveries that wait for their webhooks. */
  outbox: number;
  /** The last hour in 24 letters, oldest first. */
  hour: string;
  /** Its node, '' for none; absent where there are none. */
  node?: string;
}

export interface RowPage {
  readonly total: number;
  readonly rows: Row[];
  /** '' on the last page. */
  readonly next: string;
  /** Nodes that did not answer. */
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

/** One session as the calls of the interface answer with it; its token is taken out. */
export interface SessionView {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  /** A picture as a data URL, '' when there is none now. */
  readonly qrcode: string;
  readonly paircode: string;
  readonly owner: string;
  readonly profileName: string;
  readonly lastDisconnectReason: string;
}
