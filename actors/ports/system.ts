/** Time, chance, the log, pictures, proxies: what a process gives. */
import type { ProxyCatalogue } from '../model.ts';

export interface Media {
  /** PNG data URL of a QR code, made in a worker. */
  qrPng(text: string): Promise<string>;
}

export interface Chance {
  /** 0 ≤ x < 1. */
  random(): number;
  /** `bytes` random bytes in hex. */
  hex(bytes: number): string;
  /** URL-safe token of `length` letters and digits. */
  token(length: number): string;
}

export interface Log {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/** Counts what happens in all instances together. Each call is an addition; no method throws. Times in milliseconds. */
export interface Meter {
  /** A connection is tried. */
  attempted(): void;
  closed(cause: string): void;
  /** A session is live again, so long after it was lost. */
  reconnected(ms: number): void;
  /** Events that were committed, by type. */
  event(type: string): void;
  /** A post to a receiver; `sinceEvent`: from the event to the 2xx, null when there was none. */
  posted(outcome: 'delivered' | 'refused' | 'failed', ms: number, sinceEvent: number | null): void;
  /** A question to a model; `tokens`: of the question and the answer, 0 when there was none. */
  modelAsked(outcome: 'answered' | 'failed' | 'givenUp', ms: number, tokens: number): void;
  /** What became of a recipient of a campaign. */
  campaigned(outcome: 'sent' | 'failed' | 'skipped' | 'unknown'): void;
  /** Entries of recorders that are not stored: `lost` were given up, `refused` do not fit the database. */
  unstored(outcome: 'lost' | 'refused', count: number): void;
  /** The platform or a person sent something that only a forger sends; it was dropped. */
  forged(what: string): void;
  /** This node took instances, gave instances up, or found leases astray, by cause or kind. */
  leases(what: 'taken' | 'ended' | 'astray', cause: string, count: number): void;
  /** Crashes of charts and of background workers. */
  crashed(part: string): void;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Levels of single instances beside that of the process. */
export interface LogLevels {
  /** From now on lines that name this instance are written from this level on, until the moment in Unix milliseconds. */
  set(instance: string, level: LogLevel, until: number): void;
  /** Null when the level of the process counts. */
  of(instance: string): { readonly level: LogLevel; readonly until: number } | null;
}

/** The disk of the data folder, which with the embedded server is that of the database. */
export interface Disk {
  /** 0 before the first look, both of them. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** A sentence while there is too little room; '' while there is enough. */
  readonly warning: string;
}

/** A clock that XState understands (`setTimeout`, `clearTimeout`) and that tells the time. */
export interface Time {
  now(): number;
  /** Milliseconds since some moment, which no change of the system's clock touches. */
  monotonic(): number;
  /** Of any length: a delay that one timer of the system cannot hold takes several. */
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
  /** Resolves when everything that is ready has had its turn, without waiting for anything. */
  turn(): Promise<void>;
}

/** Proxies of sessions. */
export interface Proxies {
  /** Managed proxies; null when the server has none. */
  readonly catalogue: ProxyCatalogue | null;
  /** Why this address cannot be the proxy of an owner, such as `proxy_url must start with …`; null when nothing speaks against it. */
  objection(url: string): string | null;
  /** Reaches the platform through it, within a limit. `managed`: it is of the catalogue. '' when that works, else what was wrong, without the address. Never rejects. */
  test(url: string, managed: boolean): Promise<string>;
}
