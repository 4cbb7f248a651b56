/**
 * The files that the library fetches by itself: parts of a history, and large pieces of the shared state.
 *
 * The library decrypts them with cipher key and IV alone (`downloadEncryptedContent`). It compares neither the authentication code nor the hash of a part
 * of the history, so that a media host could change it. Each answer is therefore held back until it is whole and checked. The shared state has codes of
 * its own, which the library compares.
 */
import { hkdfSync } from 'node:crypto';
import { DEF_MEDIA_HOST, getUrlFromDirectPath, hkdfInfoKey, type proto } from '@whiskeysockets/baileys';
import { type Dispatcher, getGlobalDispatcher } from 'undici';
import { MediaBroken, MediaForged, type Seal, SealCheck } from './media-stream.ts';

type Notification = Pick<proto.Message.IHistorySyncNotification, 'directPath' | 'mediaKey' | 'fileEncSha256'>;

/** The library takes all these files from this host. */
const origin = `https://${DEF_MEDIA_HOST}`;

/** Bytes. Parts of real histories have some ten million at most, and they wait in memory. */
const most = 128 * 1024 * 1024;

/** Null if the library would fetch the path from another host, or if it cannot fetch it at all. */
const addressOf = (directPath: string): string | null => {
  const url = URL.parse(getUrlFromDirectPath(directPath));
  return url?.origin === origin ? url.origin + url.pathname + url.search : null;
};

/** The keys of a part of the history, as `getMediaKeys` of the library derives them. */
const sealOf = (mediaKey: Uint8Array, encryptedSha256: Uint8Array | null): Seal => {
  const keys = new Uint8Array(hkdfSync('sha256', mediaKey, Buffer.alloc(0), hkdfInfoKey('md-msg-hist'), 80));
  return { iv: keys.subarray(0, 16), macKey: keys.subarray(48), encryptedSha256 };
};

/** The request has ended when an answer is passed on, so that the answer cannot be paused. */
const over = ({ aborted, reason }: Dispatcher.DispatchController): Dispatcher.DispatchController => ({
  aborted,
  reason,
  paused: false,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
});

/** Passes an answer on when it is complete. A fault of the answer becomes the failure of the request. */
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
    // A file at another address would not be checked.
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
    // The bytes must stay as they were checked, so that no layer may decompress them.
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
  /** The seals of files by address. An entry stays as long as the connection, since the library retries. A connection has some dozens. */
  readonly #seals = new Map<string, Seal>();

  /** `way`: the route; absent for the route of the process. `failed`: called if a file was refused or could not be fetched. */
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

  /** Must be called with each part of a history before the library fetches it. */
  expect({ directPath, mediaKey, fileEncSha256 }: Notification): void {
    const address = addressOf(directPath ?? '');
    if (address !== null && mediaKey?.length) this.#seals.set(address, sealOf(mediaKey, fileEncSha256?.length ? fileEncSha256 : null));
  }
}
