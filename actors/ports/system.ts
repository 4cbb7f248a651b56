/** Services of the process (time, randomness, log, metrics, disk, proxies), and the errors with which a port rejects. */
import type { ProxyCatalogue } from '../model.ts';
import type { Totals } from './operator-stores.ts';

// Services of the process: time, randomness, log, metrics, disk, proxies.

export interface Media {
  /** Returns the PNG data URL of a QR code, made in a worker. */
  qrPng(text: string): Promise<string>;
}

export interface Chance {
  /** Returns a random number, 0 ≤ x < 1. */
  random(): number;
  /** Returns `bytes` random bytes in hex. */
  hex(bytes: number): string;
  /** Returns a URL-safe token of `length` letters and digits. */
  token(length: number): string;
}

export interface Log {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/** The metrics of this process over all instances. Each call adds to a counter. No method throws. Times in milliseconds. */
export interface Meter {
  /** Counts an attempt to connect to the platform. */
  attempted(): void;
  closed(cause: string): void;
  /** Records the time after which a lost session was live again. */
  reconnected(ms: number): void;
  /** Counts a committed event by its type. `fromMe`: the event is about a message of the account (true) or of others (false); absent for all other events. */
  event(type: string, fromMe?: boolean): void;
  /** Records a post to a receiver. `sinceEvent`: the time from the event to the 2xx; null without a 2xx. */
  posted(outcome: 'delivered' | 'refused' | 'failed', ms: number, sinceEvent: number | null): void;
  /** Records a request to a model. `tokens`: the tokens of the question and the answer; 0 without an answer. */
  modelAsked(outcome: 'answered' | 'failed' | 'givenUp', ms: number, tokens: number): void;
  /** Counts a campaign recipient by outcome. */
  campaigned(outcome: 'sent' | 'failed' | 'skipped' | 'unknown'): void;
  /** Counts recorder entries that were not stored: `lost` entries were given up, and `refused` entries do not fit the database. */
  unstored(outcome: 'lost' | 'refused', count: number): void;
  /** Counts a dropped stanza that only a forger sends. */
  forged(what: string): void;
  /**
   * Counts leases of instances by cause or kind. `taken`: this node took the lease. `ended`: this node lost or released the lease. `astray`: a comparison
   * with the database found a difference.
   */
  leases(what: 'taken' | 'ended' | 'astray', cause: string, count: number): void;
  /** Counts crashes of charts and of background workers. */
  crashed(part: string): void;
  /** Returns the counters of messages, deliveries and reconnects. */
  readonly totals: Totals;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Log levels of single instances. Other instances have the level of the process. */
export interface LogLevels {
  /** Sets the level for lines that name this instance, until this time (Unix milliseconds). */
  set(instance: string, level: LogLevel, until: number): void;
  /** Returns the level of an instance; null if the level of the process applies. */
  of(instance: string): { readonly level: LogLevel; readonly until: number } | null;
}

/** The disk of the data folder. The embedded database is on the same disk. */
export interface Disk {
  /** The free space and the size of the disk; both are 0 before the first check. In bytes. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** A sentence while there is too little space; '' otherwise. */
  readonly warning: string;
}

/** A clock for XState (`setTimeout`, `clearTimeout`) that also tells the time. */
export interface Time {
  now(): number;
  /** Returns the milliseconds since an arbitrary start. Changes of the system's clock do not affect this value. */
  monotonic(): number;
  /**
   * Returns the milliseconds by which the machine's clock is behind the database's; negative if it is ahead, and 0 for no correction. `now` includes
   * this correction.
   */
  correction(): number;
  /** Sets a timer of any length. A delay that exceeds the limit of a system timer uses several timers. */
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
  /** Resolves when the event loop has run all tasks that are ready now. */
  turn(): Promise<void>;
}

/** The proxies through which sessions connect to the platform. */
export interface Proxies {
  /** The catalogue of managed proxies; null if the gateway has none. */
  readonly catalogue: ProxyCatalogue | null;
  /** Returns the reason why this address cannot be an owner's proxy, such as `proxy_url must start with …`; null if the address is valid. */
  objection(url: string): string | null;
  /**
   * Connects to the platform through the proxy, within a time limit. Returns '' if the connection works, else the error without the address.
   * `managed`: the proxy is from the catalogue. Never rejects.
   */
  test(url: string, managed: boolean): Promise<string>;
}

// Errors with which a port rejects.

/**
 * Storage cannot do the work now. A later retry is safe: the work was not done, or repeating it does no harm. HTTP answers 503 with Retry-After and
 * names the subclass.
 */
export class StorageFailure extends Error {
  override readonly name: string = 'StorageFailure';
}

/** The database cannot be reached, or does not answer. The gateway is unready until the database answers. */
export class StorageUnavailable extends StorageFailure {
  override readonly name = 'StorageUnavailable';
}

/** The database stopped a statement at its time-out. */
export class StorageSlow extends StorageFailure {
  override readonly name = 'StorageSlow';
}

/** The database takes no more work now. Every connection for this kind of work is in use, or a conflict repeated too often. */
export class StorageBusy extends StorageFailure {
  override readonly name = 'StorageBusy';
}

/** The disk of the database is full. The gateway is unready until the disk has room again. */
export class StorageFull extends StorageFailure {
  override readonly name = 'StorageFull';
}

/**
 * The database reports an error that is independent of the data: a table is missing, a page is damaged, a right was revoked. The message names the
 * error. Work waits until the database is repaired, as during an outage.
 */
export class StorageBroken extends StorageFailure {
  override readonly name = 'StorageBroken';
}

/** The file storage does not answer now, or has no room. */
export class FilesUnavailable extends StorageFailure {
  override readonly name: string = 'FilesUnavailable';
}

/** One stored file cannot be read, although the store of files works. A retry may succeed, but the caller must bound the number of retries. */
export class FileUnreadable extends FilesUnavailable {
  override readonly name = 'FileUnreadable';
  /** The hash of the file. */
  readonly file: string;

  constructor(file: string, message: string, options: ErrorOptions) {
    super(message, options);
    this.file = file;
  }
}

/** A write carried an outdated epoch. Another process owns the instance, and this process must not write any more. */
export class EpochLost extends Error {
  override readonly name = 'EpochLost';
}
