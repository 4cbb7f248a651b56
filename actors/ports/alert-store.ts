/** The settings and the state of alerts, the troubles that each node reports, and the mail server that takes alerts. */
import type { AlertAttempt, AlertSecrets, AlertSettings, MailServer, Trouble } from '../model.ts';

export interface AlertRow {
  readonly settings: AlertSettings;
  /** Sealed at rest. Empty texts for secrets that do not open. */
  readonly secrets: AlertSecrets;
  /** Changes with each stored set of secrets. */
  readonly revision: string;
  /** The last stored state; null before the first. A damaged row may hold anything. */
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
   * Stores settings and secrets. The state stays. Returns false, and stores nothing, if other secrets were stored since the read of `revision`. It is ''
   * if nothing was stored then.
   */
  save(settings: AlertSettings, secrets: AlertSecrets, revision: string): Promise<boolean>;
  /** Stores the state if `version` is still the stored one. Returns false if another node was first. */
  saveState(state: object, version: number): Promise<boolean>;
  /** Replaces the report of a node. */
  report(report: TroubleReport): Promise<void>;
  /** Returns the reports of all nodes since this time, and removes older ones. */
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
