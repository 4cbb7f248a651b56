/** Downloads of files from the media hosts: their parts and limits. */
import type { Dispatcher } from 'undici';
import type { Result } from '#actors/model.ts';
import type { TakenFile } from '#actors/ports.ts';

/** The dependencies of downloads beside the connection. */
export interface Downloads {
  /** Writes a stream to a file of its own. Rejects as the stream does; nothing is left then. */
  receive(
    bytes: AsyncIterable<Uint8Array>,
    options: { readonly filename: string; readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Result<TakenFile>>;
  /** Bytes. */
  readonly most: number;
  /** Milliseconds without a byte from the media host. */
  readonly silenceMs: number;
  /** Milliseconds for the phone to put a file on the media host again. */
  readonly phoneMs: number;
}

export interface LiveDownloads extends Downloads {
  /** The dispatcher for media hosts; undefined: as for all other hosts. */
  readonly dispatcher: Dispatcher | undefined;
  /** The same for hosts that only a message names: it reaches public addresses alone, wherever names are resolved here. */
  readonly guarded: Dispatcher | undefined;
}
