/** Small pictures of the accounts, for lists of sessions: each is fetched once, through the proxy of its session, and kept in memory. */
import { createHash } from 'node:crypto';
import type { SmallPicture } from '#actors/ports.ts';
import { type LiveDownloads, plainStream } from '../outbound/media-stream.ts';
import type { Previews } from '../outbound/live-connection.ts';

/** Milliseconds for a picture, and bytes of it; the platform's own are a tenth of that. */
const timeoutMs = 10_000;
const mostBytes = 1_048_576;

/** The functions that fetch a picture and make it small. */
export interface PictureWay {
  readonly downloads: Pick<LiveDownloads, 'dispatcher' | 'silenceMs'>;
  readonly previews: Pick<Previews, 'picture'>;
}

const fetched = async (url: string, { dispatcher, silenceMs }: PictureWay['downloads']): Promise<Uint8Array | null> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of plainStream({ url, dispatcher, silenceMs, signal: AbortSignal.timeout(timeoutMs) })) {
    length += chunk.length;
    // Leaving the loop ends the request.
    if (length > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Signatures in the address change with each look-up; the path names the picture. */
const nameOf = (url: string): string => URL.parse(url)?.pathname ?? '';

export class SmallPictures {
  readonly #most: number;
  /** Pictures by instance, oldest first. */
  readonly #kept = new Map<string, SmallPicture & { readonly name: string }>();
  /** The name of the picture that is being fetched, by instance. */
  readonly #wanted = new Map<string, string>();
  #bytes = 0;

  /** `most`: bytes of all of them together. */
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

  /** The account has this picture, or none (''). Fetches it unless it is kept; one that could not be fetched is tried again at the next login. Never rejects. */
  async add(instance: string, url: string, { downloads, previews }: PictureWay): Promise<void> {
    const name = nameOf(url);
    if (name === '') return this.forget(instance);
    if (this.#kept.get(instance)?.name === name || this.#wanted.get(instance) === name) return;
    this.#wanted.set(instance, name);
    const bytes = await fetched(url, downloads).catch(() => null);
    const jpeg = bytes && (await previews.picture(bytes, false))?.small;
    // Another picture, or none, may have come meanwhile.
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
