/** The profile pictures of accounts: their addresses, and small copies for lists of sessions. */
import { createHash } from 'node:crypto';
import type { WASocket } from '@whiskeysockets/baileys';
import type { SmallPicture } from '#actors/ports.ts';
import type { BaileysEvent } from '../events/library-values.ts';
import type { Previews } from '../outbound/live-connection.ts';
import { type LiveDownloads, plainStream } from '../outbound/media-stream.ts';
import { bare } from '../wire/jid.ts';
import { answerOf } from '../wire/outcomes.ts';

// The address of the account's own profile picture. It is looked up once after each login and after each change, at a rate that all sessions share.

/** Delays in milliseconds. */
export interface PictureDelays {
  /** The delay after the login, so that the backlog comes first. */
  readonly login: number;
  /** The time between the look-ups of two sessions. */
  readonly between: number;
}

/** The default delays. They allow five look-ups a second, which is the rate at which the gate admits logins. */
export const pictureDelays: PictureDelays = { login: 2_000, between: 200 };

/** The rate limit of picture look-ups of all sessions of the process. */
export class PicturePace {
  readonly login: number;
  readonly #between: number;
  readonly #now: () => number;
  #next = 0;

  constructor({ login, between }: PictureDelays, now: () => number) {
    this.login = login;
    this.#between = between;
    this.#now = now;
  }

  /** Reserves the next free time for a look-up. Returns the milliseconds until this time. */
  reserve(): number {
    const at = Math.max(this.#next, this.#now());
    this.#next = at + this.#between;
    return at - this.#now();
  }
}

interface OwnPictureInput {
  readonly sock: Pick<WASocket, 'profilePictureUrl'>;
  readonly pace: PicturePace;
  /** Returns the own addresses without a device. */
  me(): { readonly pn: string; readonly lid: string };
  /** Reports that the picture of another person or of a group changed. */
  changed(id: string): void;
  /** Reports the address; '' if there is no picture, or none that a linked device may see. */
  found(url: string): void;
  failed(error: unknown): void;
}

export class OwnPicture {
  readonly #input: OwnPictureInput;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(input: OwnPictureInput) {
    this.#input = input;
  }

  loggedIn(): void {
    this.#ask(this.#input.pace.login);
  }

  /** Handles reports of changed or removed pictures. Looks the own picture up again, and reports changes of other pictures. */
  observe(event: BaileysEvent): void {
    if (event.name !== 'contacts.update') return;
    const { pn, lid } = this.#input.me();
    const changed = event.data.filter(({ imgUrl }) => imgUrl === 'changed' || imgUrl === 'removed').map(({ id }) => bare(id));
    if (changed.some((id) => [pn, lid].includes(id))) this.#ask(0);
    for (const id of changed) if (id !== '' && id !== pn && id !== lid) this.#input.changed(id);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #ask(delay: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), delay + this.#input.pace.reserve()).unref();
  }

  async #look(): Promise<void> {
    const { sock, me, found, failed } = this.#input;
    try {
      // A refusal means that there is no picture, or none that a linked device may see.
      const asked = await answerOf(sock.profilePictureUrl(me().pn, 'image'), () => true);
      if (!this.#closed) found(asked.ok ? (asked.value ?? '') : '');
    } catch (error) {
      if (!this.#closed) failed(error);
    }
  }
}

// Small pictures of the accounts for lists of sessions. Each picture is fetched once, by the route of its session, and cached in memory.

/** Limits of a download: the time in milliseconds, and the size in bytes. The platform's pictures have about a tenth of this size. */
const timeoutMs = 10_000;
const mostBytes = 1_048_576;

/** The functions that fetch a picture and scale it down. */
interface PictureWay {
  readonly downloads: Pick<LiveDownloads, 'dispatcher' | 'silenceMs'>;
  readonly previews: Pick<Previews, 'picture'>;
}

const fetched = async (url: string, { dispatcher, silenceMs }: PictureWay['downloads']): Promise<Uint8Array | null> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of plainStream({ url, dispatcher, silenceMs, signal: AbortSignal.timeout(timeoutMs) })) {
    length += chunk.length;
    // The return ends the request.
    if (length > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Returns the name of a picture, which is the path of its address. The signature in the address changes with each look-up. */
const nameOf = (url: string): string => URL.parse(url)?.pathname ?? '';

export class SmallPictures {
  readonly #most: number;
  /** Pictures, oldest first. The key is the instance. */
  readonly #kept = new Map<string, SmallPicture & { readonly name: string }>();
  /** The name of the picture that is being fetched. The key is the instance. */
  readonly #wanted = new Map<string, string>();
  #bytes = 0;

  /** `most`: the size limit of all pictures together, in bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  of(instance: string): SmallPicture | null {
    return this.#kept.get(instance) ?? null;
  }

  forget(instance: string): void {
    this.#wanted.delete(instance);
    const old = this.#kept.get(instance);
    if (old === undefined) return;
    this.#kept.delete(instance);
    this.#bytes -= old.jpeg.length;
  }

  /** Fetches the account's picture unless it is in memory. `url`: '' removes the picture. A failed fetch is retried at the next login. Never rejects. */
  async add(instance: string, url: string, { downloads, previews }: PictureWay): Promise<void> {
    const name = nameOf(url);
    if (name === '') return this.forget(instance);
    if (this.#kept.get(instance)?.name === name || this.#wanted.get(instance) === name) return;
    this.#wanted.set(instance, name);
    const bytes = await fetched(url, downloads).catch(() => null);
    // The conversion is retried once. On a busy machine it may miss its time limit, and the next login may be weeks away.
    const converted = bytes && ((await previews.picture(bytes, false)) ?? (await previews.picture(bytes, false)));
    const jpeg = converted?.small;
    // The picture may have been changed or removed meanwhile.
    if (this.#wanted.get(instance) !== name) return;
    this.forget(instance);
    if (jpeg) this.#keep(instance, { name, jpeg, tag: createHash('sha256').update(jpeg).digest('hex').slice(0, 16) });
  }

  #keep(instance: string, picture: SmallPicture & { readonly name: string }): void {
    this.#kept.set(instance, picture);
    this.#bytes += picture.jpeg.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) return;
      this.forget(oldest);
    }
  }
}
