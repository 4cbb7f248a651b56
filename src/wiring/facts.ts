/** Collects the facts for the pages about the server, and looks for a newer release if a setting names an address. */
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import type { Settings, SettingSources } from '#config/load.ts';
import { settingsInForce } from '#config/in-force.ts';
import type { ServerFacts, UpdateNotice } from '#src/http/options.ts';
import { AddressGuard, createAgent, reasonOf } from '#src/webhooks/address-guard.ts';

// The newest release, from the answer of a code forge or of a package registry.

/** The parts of `1.2.3-beta`: three numbers, and a suffix that only a preview has. */
const pattern = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[\w.-]{1,64})?/;

/** Returns true if `latest` is a later version than `own`. A preview is earlier than its release. A text without a version is never later. */
export const isLater = (latest: string, own: string): boolean => {
  const [a, b] = [pattern.exec(latest), pattern.exec(own)];
  if (a === null || b === null) return false;
  for (const at of [1, 2, 3]) if (Number(a[at]) !== Number(b[at])) return Number(a[at]) > Number(b[at]);
  return a[4] === undefined && b[4] !== undefined;
};

interface Release {
  readonly version: string;
  readonly page: string;
}

/**
 * Returns the newest release in an answer. A code forge names the version in `tag_name`, and a package registry in `version`. In a list of releases the
 * newest release is first. Returns null if the answer has no version.
 */
export const releaseIn = (answer: unknown): Release | null => {
  const one = (Array.isArray(answer) ? answer[0] : answer) as Readonly<Record<string, unknown>> | null | undefined;
  const found = pattern.exec(String(one?.['tag_name'] ?? one?.['version'] ?? ''));
  if (found === null) return null;
  const page = String(one?.['html_url'] ?? '');
  return { version: found[0].replace(/^v/, ''), page: /^https?:\/\/[^\s"<>]{1,500}$/.test(page) ? page : '' };
};

/** The time-out of one answer in milliseconds, and its largest size in bytes. A list of releases has some hundred kilobytes. */
const answerMs = 10_000;
const mostBytes = 4 * 1024 * 1024;
/** The times for which an answer and a failure are cached. In milliseconds. */
const keptMs = { good: 6 * 3_600_000, bad: 60_000 };

const askRelease = async (url: string, allow: readonly string[], userAgent: string): Promise<Release> => {
  const guard = new AddressGuard({ allow });
  const refused = guard.checkUrl(url);
  if (refused !== null) throw new Error(refused);
  const agent = createAgent(guard, answerMs, 1, mostBytes);
  try {
    const headers = { accept: 'application/json', 'user-agent': userAgent };
    const answer = await request(url, { headers, dispatcher: agent, signal: AbortSignal.timeout(answerMs) });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`the server answered ${answer.statusCode}`);
    const release = releaseIn(JSON.parse(text));
    if (release === null) throw new Error('the answer names no version');
    return release;
  } finally {
    await agent.close();
  }
};

/** Describes a network error without the address, which may contain a key. */
const sentenceOf = (error: unknown): string => {
  if (error instanceof SyntaxError) return 'the answer is no JSON';
  const { code } = error as { readonly code?: unknown };
  return error instanceof Error && error.name === 'Error' && code === undefined ? error.message : reasonOf(error);
};

const noCheck: UpdateNotice = { checks: false, latest: '', isNewer: false, page: '', checkedAt: 0, error: '' };

interface UpdatesInput {
  /** The address with the newest release; null if no server is asked. */
  readonly url: string | null;
  readonly version: string;
  readonly allow: readonly string[];
  readonly now: () => number;
}

/** Looks up the newest release, and caches the result. */
class Updates {
  readonly #input: UpdatesInput & { readonly url: string };
  #known: UpdateNotice = { ...noCheck, checks: true };
  #validUntil = 0;
  #asking: Promise<UpdateNotice> | null = null;

  constructor(input: UpdatesInput & { readonly url: string }) {
    this.#input = input;
  }

  /** Concurrent callers share one request. Never rejects. */
  async newest(): Promise<UpdateNotice> {
    if (this.#input.now() < this.#validUntil) return this.#known;
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = null)));
  }

  async #ask(): Promise<UpdateNotice> {
    const { url, version, allow, now } = this.#input;
    try {
      const release = await askRelease(url, allow, `Dormouse/${version}`);
      this.#known = {
        checks: true,
        latest: release.version,
        isNewer: isLater(release.version, version),
        page: release.page,
        checkedAt: now(),
        error: '',
      };
      this.#validUntil = now() + keptMs.good;
    } catch (error) {
      this.#known = { ...this.#known, error: sentenceOf(error) };
      this.#validUntil = now() + keptMs.bad;
    }
    return this.#known;
  }
}

/** Returns the function that looks up the newest release. */
export const createUpdates = ({ url, ...input }: UpdatesInput): ServerFacts['update'] => {
  if (url === null) return async () => noCheck;
  const updates = new Updates({ ...input, url });
  return () => updates.newest();
};

// The facts for the pages.

/** The time for which the size of the database is cached, so that reloading a page costs no query. In milliseconds. */
const useMs = 30_000;

/** Caches the answer of a function. Concurrent callers share one request. A failure is not cached. */
export const remembered = <T>(ask: () => Promise<T>, ms: number, now: () => number): (() => Promise<T>) => {
  let known: { readonly answer: Promise<T>; readonly until: number } | null = null;
  return () => {
    if (known !== null && now() < known.until) return known.answer;
    const answer = ask();
    const own = { answer, until: now() + ms };
    known = own;
    answer.catch(() => {
      if (known === own) known = null;
    });
    return answer;
  };
};

/** Returns the version of Baileys that is installed. */
const baileysVersion = (): string => {
  const path = new URL('../../node_modules/@whiskeysockets/baileys/package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
};

interface FactsInput extends Pick<ServerFacts, 'databaseUse' | 'fileBytes' | 'disk'> {
  readonly settings: Settings;
  readonly sources: SettingSources;
  readonly version: string;
  readonly now: () => number;
}

export const serverFactsOf = ({ settings, sources, version, now, databaseUse, fileBytes, disk }: FactsInput): ServerFacts => ({
  settings: settingsInForce(settings, sources),
  baileys: baileysVersion(),
  node: process.versions.node,
  startedAt: now(),
  update: createUpdates({ url: settings.updateCheckUrl, version, allow: settings.allowPrivateReceivers, now }),
  databaseUse: remembered(databaseUse, useMs, now),
  fileBytes,
  disk,
});
