/**
 * Checks the files that the library fetches by itself: parts of the history, and large parts of the shared state.
 *
 * The library decrypts them only with the cipher key and the IV (`downloadEncryptedContent`). It verifies neither the MAC nor the hash of a part of the
 * history, so a media host could change the part. Therefore each answer is held back until it is complete and checked. The shared state has its own MACs,
 * which the library verifies.
 */
import { hkdfSync } from 'node:crypto';
import { DEF_MEDIA_HOST, getUrlFromDirectPath, hkdfInfoKey, type proto } from '@whiskeysockets/baileys';
import { type Dispatcher, getGlobalDispatcher } from 'undici';
import { MediaBroken, MediaForged, type Seal, SealCheck } from './media-stream.ts';

type Notification = Pick<proto.Message.IHistorySyncNotification, 'directPath' | 'mediaKey' | 'fileEncSha256'>;

/** The host from which the library fetches all these files. */
const origin = `https://${DEF_MEDIA_HOST}`;

/** The size limit of a file, in bytes. Parts of real histories have at most some ten million bytes. They are held in memory. */
const most = 128 * 1024 * 1024;

/** Returns the address from which the library fetches a path. Returns null for another host, or for an invalid path. */
const addressOf = (directPath: string): string | null => {
  const url = URL.parse(getUrlFromDirectPath(directPath));
  return url?.origin === origin ? url.origin + url.pathname + url.search : null;
};

/** Derives the keys of a part of the history, like `getMediaKeys` of the library. */
const sealOf = (mediaKey: Uint8Array, encryptedSha256: Uint8Array | null): Seal => {
  const keys = new Uint8Array(hkdfSync('sha256', mediaKey, Buffer.alloc(0), hkdfInfoKey('md-msg-hist'), 80));
  return { iv: keys.subarray(0, 16), macKey: keys.subarray(48), encryptedSha256 };
};

/** Returns a controller for an answer that is passed on. Its request has ended, so the answer cannot be paused. */
const over = ({ aborted, reason }: Dispatcher.DispatchController): Dispatcher.DispatchController => ({
  aborted,
  reason,
  paused: false,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
});

/** Holds an answer, and passes it on when it is complete and checked. A fault of the answer makes the request fail. */
class HeldAnswer implements Dispatcher.DispatchHandler {
  readonly #inner: Dispatcher.DispatchHandler;
  readonly #check: SealCheck | null;
  readonly #failed: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #start: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>> | null = null;

  constructor(inner: Dispatcher.DispatchHandler, seal: Seal | null, failed: (error: Error) => void) {
    this.#inner = inner;
    this.#check = seal === null ? null : new SealCheck(seal);
    this.#failed = failed;
  }

  onRequestStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.#inner.onRequestStart?.(...given);
  }

  onResponseStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    const [controller, status] = given;
    if (status < 200) return;
    // Redirects are refused, because a file at another address would not be checked.
    if (status >= 300 && status < 400) controller.abort(new MediaForged('the media host leads to another address'));
    else this.#start = given;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > most) return controller.abort(new MediaBroken(`the file has more than ${most} bytes`));
    this.#check?.take(chunk);
    this.#chunks.push(chunk);
  }

  onResponseEnd(...[controller, trailers]: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    if (this.#start === null) return;
    const [, status, headers, text] = this.#start;
    try {
      if (status === 200) this.#check?.finish();
    } catch (error) {
      return this.onResponseError(controller, error as Error);
    }
    // The header is removed, so that no layer decompresses the checked bytes.
    const { 'content-encoding': _, ...plain } = headers;
    const ended = over(controller);
    this.#inner.onResponseStart?.(ended, status, plain, text);
    for (const chunk of this.#chunks) this.#inner.onResponseData?.(ended, chunk);
    this.#inner.onResponseEnd?.(ended, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#failed(error);
    this.#inner.onResponseError?.(controller, error);
  }
}

export class HistoryFiles {
  /** The dispatcher for requests of the library. */
  readonly dispatcher: Dispatcher;
  /**
   * The keys and hashes of files, by address. An entry is kept until the end of the connection, because the library retries. A history has some dozens of
   * files.
   */
  readonly #seals = new Map<string, Seal>();

  /** `way`: the dispatcher of the route; absent for the default dispatcher. `failed`: called if a file was refused or could not be fetched. */
  constructor(way: Dispatcher | undefined, failed: (error: Error) => void) {
    this.dispatcher = (way ?? getGlobalDispatcher()).compose((dispatch) => (options, handler) => {
      const from = URL.parse(String(options.origin))?.origin;
      if (from !== origin) {
        const refusal = new MediaForged('the address leads away from the media host');
        failed(refusal);
        throw refusal;
      }
      return dispatch(options, new HeldAnswer(handler, this.#seals.get(from + options.path) ?? null, failed));
    });
  }

  /** Adds a part of the history. Call this before the library fetches the part. */
  expect({ directPath, mediaKey, fileEncSha256 }: Notification): void {
    const address = addressOf(directPath ?? '');
    if (address !== null && mediaKey?.length) this.#seals.set(address, sealOf(mediaKey, fileEncSha256?.length ? fileEncSha256 : null));
  }
}
