/**
 * Chooses the client version of connections. The platform refuses old versions (405). The version of today's web client is therefore looked up once a day
 * and after each refusal, and stored in the database. If the platform refuses the new version too, connections use the last accepted version.
 */
import { DEFAULT_CONNECTION_CONFIG, type WAVersion } from '@whiskeysockets/baileys';
import { type Dispatcher, request } from 'undici';
import type { ClientVersionView } from '#actors/model.ts';
import type { Log, SettingStore, Time } from '#actors/ports.ts';

// Reads the version of today's web client from the platform's own pages.

/** The third part of a version. The first two parts have been 2 and 3000 for years. */
type Revision = number;

/** The user agent of a usual browser. The pages answer other programs with 400. */
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36';

/** The service worker, and the page itself as a fallback, with the headers of a browser (Baileys `fetchLatestWaWebVersion`, whatsmeow `update.go`). */
const pages: readonly { readonly path: string; readonly headers: Readonly<Record<string, string>> }[] = [
  { path: '/sw.js', headers: { 'sec-fetch-site': 'none' } },
  {
    path: '/',
    headers: {
      accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'accept-language': 'en-US,en;q=0.9',
      'sec-fetch-dest': 'document',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-site': 'none',
      'sec-fetch-user': '?1',
    },
  },
];

/** The pattern of a version in the page, with or without escaped quotes. */
const pattern = /\\?"client_revision\\?"\s*:\s*(\d{6,12})\b/;

const read = async (base: URL, { path, headers }: (typeof pages)[number], dispatcher: Dispatcher, ms: number): Promise<Revision> => {
  const answer = await request(new URL(path, base), {
    headers: { ...headers, 'user-agent': userAgent },
    dispatcher,
    signal: AbortSignal.timeout(ms),
  });
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw new Error(`${path} answered ${answer.statusCode}`);
  }
  const found = pattern.exec(await answer.body.text())?.[1];
  if (found === undefined) throw new Error(`${path} names no client revision`);
  return Number(found);
};

/** Looks up the revision. Rejects if every page fails. The error names the reason for each page. `ms`: the time limit of each page, in milliseconds. */
export const lookUpRevision = async (
  base: URL,
  dispatcher: Dispatcher,
  ms: number,
  reason: (error: unknown) => string,
): Promise<Revision> => {
  const failures: string[] = [];
  for (const page of pages) {
    try {
      return await read(base, page, dispatcher, ms);
    } catch (error) {
      failures.push(error instanceof Error && error.message.startsWith(page.path) ? error.message : `${page.path}: ${reason(error)}`);
    }
  }
  throw new Error(failures.join('; '));
};

interface Memory {
  /** The last revision that was looked up; 0 for none. */
  readonly found: Revision;
  /** The last revision with which a session logged in; 0 for none. */
  readonly good: Revision;
  /** The time of the last successful look-up, in Unix milliseconds. */
  readonly checkedAt: number;
}

interface ClientVersionsInput {
  /** The fixed version from the settings. Null if versions are looked up. */
  readonly fixed: string | null;
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  /** Looks up the current revision. Rejects with a text for the operator. */
  lookUp(): Promise<Revision>;
  readonly everyMs: number;
  readonly time: Time;
  readonly log: Log;
}

export interface ClientVersions {
  /** Resolves with the version for a new connection. Waits some seconds for the very first look-up. Never rejects. */
  next(): Promise<WAVersion>;
  /** Notes that the platform refused a connection with this version. */
  refused(version: WAVersion): void;
  /** Notes that a connection with this version logged in. */
  accepted(version: WAVersion): void;
  /** Notes that the present version may be too old for linking a device. */
  doubted(): void;
  view(): ClientVersionView;
  /** Reads the stored version. Then looks up the current version in the background, if a look-up is due. */
  start(): Promise<void>;
  close(): void;
}

const key = 'client_version';
const nothing: Memory = { found: 0, good: 0, checkedAt: 0 };
/** The shortest time between two look-ups, even if the platform refuses versions. In milliseconds. */
const pauseMs = 10_000;
/** The longest wait of a connection for the very first look-up. In milliseconds. */
const firstMs = 5_000;

const compiled = DEFAULT_CONNECTION_CONFIG.version;
const textOf = (version: WAVersion): string => version.join('.');
const versionOf = (revision: Revision): WAVersion => [compiled[0], compiled[1], revision];

const parse = (text: string | null): Memory => {
  try {
    const { found = 0, good = 0, checkedAt = 0 } = JSON.parse(text ?? '{}') as Partial<Memory>;
    return [found, good, checkedAt].every((part) => Number.isSafeInteger(part)) ? { found, good, checkedAt } : nothing;
  } catch {
    return nothing;
  }
};

class KeptVersions implements ClientVersions {
  readonly #input: ClientVersionsInput;
  #memory = nothing;
  /** Revisions that the platform has refused since the last new revision was found. */
  readonly #refused = new Set<Revision>();
  #error = '';
  #triedAt = -pauseMs;
  #looking: Promise<void> | null = null;
  #timer: unknown = null;
  #closed = false;

  constructor(input: ClientVersionsInput) {
    this.#input = input;
  }

  async next(): Promise<WAVersion> {
    const { fixed, time } = this.#input;
    if (fixed === null && this.#memory.found === 0 && this.#looking !== null) {
      const late = Promise.withResolvers<void>();
      const timer = time.setTimeout(() => late.resolve(), firstMs);
      await Promise.race([this.#looking, late.promise]);
      time.clearTimeout(timer);
    }
    return this.#current();
  }

  refused(version: WAVersion): void {
    if (this.#input.fixed !== null) return;
    this.#refused.add(version[2]);
    void this.#look();
  }

  accepted(version: WAVersion): void {
    this.#refused.delete(version[2]);
    if (this.#input.fixed !== null || this.#memory.good === version[2]) return;
    void this.#keep({ good: version[2] });
  }

  doubted(): void {
    void this.#look();
  }

  view(): ClientVersionView {
    const { fixed } = this.#input;
    const { found, checkedAt } = this.#memory;
    const current = this.#current();
    const source = fixed !== null ? 'setting' : current[2] === found ? 'lookedUp' : found === 0 ? 'builtIn' : 'rolledBack';
    return { version: textOf(current), source, checkedAt, error: this.#error };
  }

  async start(): Promise<void> {
    const { fixed, settings } = this.#input;
    if (fixed !== null) return;
    this.#memory = parse(await settings.get(key));
    this.#plan();
  }

  close(): void {
    this.#closed = true;
    this.#input.time.clearTimeout(this.#timer);
  }

  /**
   * Returns the newest version that was not refused. If all were refused, returns the looked-up version again, because a 405 may have another
   * cause.
   */
  #current(): WAVersion {
    const { fixed } = this.#input;
    if (fixed !== null) return fixed.split('.').map(Number) as WAVersion;
    const { found, good } = this.#memory;
    const candidates = [found, good, compiled[2]].filter((revision) => revision !== 0);
    return versionOf(candidates.find((revision) => !this.#refused.has(revision)) ?? candidates[0] ?? compiled[2]);
  }

  /** Plans the next look-up: `everyMs` after a success, or at most an hour after a failure. */
  #plan(): void {
    const { time, everyMs } = this.#input;
    if (this.#closed) return;
    time.clearTimeout(this.#timer);
    const since = time.now() - this.#memory.checkedAt;
    const ms = this.#error === '' ? Math.max(0, everyMs - since) : Math.min(everyMs, 3_600_000);
    if (ms === 0) return void this.#look();
    this.#timer = time.setTimeout(() => void this.#look(), ms);
  }

  /** Looks up the version, unless a look-up runs or the last one is too recent. Never rejects. */
  #look(): Promise<void> {
    const { time } = this.#input;
    if (this.#closed || this.#input.fixed !== null) return Promise.resolve();
    if (this.#looking !== null) return this.#looking;
    if (time.now() - this.#triedAt < pauseMs) return Promise.resolve();
    this.#triedAt = time.now();
    this.#looking = this.#lookNow().finally(() => {
      this.#looking = null;
      this.#plan();
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const { lookUp, time, log } = this.#input;
    try {
      const found = await lookUp();
      if (this.#closed) return;
      this.#error = '';
      if (found !== this.#memory.found) {
        log[found === compiled[2] ? 'debug' : 'info']({ version: textOf(versionOf(found)) }, 'clientVersion.found');
        this.#refused.clear();
      }
      await this.#keep({ found, checkedAt: time.now() });
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
      log.warn({ detail: this.#error }, 'clientVersion.notFound');
    }
  }

  /** Keeps the version in memory even if it cannot be stored. Never rejects. */
  async #keep(change: Partial<Memory>): Promise<void> {
    const { settings, log } = this.#input;
    this.#memory = { ...this.#memory, ...change };
    await settings.set(key, JSON.stringify(this.#memory)).catch((error: unknown) => log.warn({ error }, 'clientVersion.notStored'));
  }
}

/** The built-in version of the library, for a platform without a look-up. */
export const builtInVersion: ClientVersions = {
  next: async () => compiled,
  refused: () => undefined,
  accepted: () => undefined,
  doubted: () => undefined,
  view: () => ({ version: textOf(compiled), source: 'builtIn', checkedAt: 0, error: '' }),
  start: async () => undefined,
  close: () => undefined,
};

export const createClientVersions = (input: ClientVersionsInput): ClientVersions => new KeptVersions(input);
