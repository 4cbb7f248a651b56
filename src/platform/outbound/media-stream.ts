/** The stream of a file from the media host, decrypted while it arrives, and the place of its address and key in an encoded message. */
import { createDecipheriv, createHash, createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { getMediaKeys, type MediaType, proto } from '@whiskeysockets/baileys';
import { type Dispatcher, request } from 'undici';
import type { Message, Result } from '#actors/model.ts';
import type { MediaFacts, TakenFile } from '#actors/ports.ts';
import { numberOf } from '../events/library-values.ts';
import { contextOf, kindOf, unwrapped } from '../events/message-kinds.ts';

// Reads the address and the key of a message's file from the encoded message.

/** The kind of key that opens the file, by the field of the protocol's `Message`. */
const keyKinds: Readonly<Partial<Record<keyof proto.IMessage, MediaType>>> = {
  imageMessage: 'image',
  videoMessage: 'video',
  ptvMessage: 'video',
  audioMessage: 'audio',
  documentMessage: 'document',
  stickerMessage: 'sticker',
};

/** The fields that all media messages share. */
interface MediaFields {
  readonly url?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
  readonly fileLength?: number | bigint | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
}

export interface MediaPart {
  readonly keyKind: MediaType;
  readonly url: string;
  readonly directPath: string;
  /** Null in channels, whose files are not encrypted. */
  readonly mediaKey: Uint8Array | null;
  /** Hashes of the file and of its encrypted form; null if the sender did not send them. */
  readonly sha256: Buffer | null;
  readonly encryptedSha256: Buffer | null;
  readonly facts: MediaFacts;
}

const hashOf = (bytes: Uint8Array | null | undefined): Buffer | null => (bytes?.length === 32 ? Buffer.from(bytes) : null);

const readable = (raw: Uint8Array): proto.IMessage | null => {
  try {
    return proto.Message.decode(raw);
  } catch {
    return null;
  }
};

/** The part of a message that has a file, or of the message that it quotes. Null when there is none. */
export const mediaPartOf = (message: Pick<Message, 'raw'>, quoted: boolean): MediaPart | null => {
  const whole = unwrapped(message.raw === null ? null : readable(message.raw));
  const outer = whole === undefined ? null : kindOf(whole);
  const content = quoted ? unwrapped(contextOf(outer?.value)?.quotedMessage) : whole;
  const kind = content === undefined ? null : kindOf(content);
  const keyKind = kind === null ? undefined : keyKinds[kind.key];
  if (kind === null || keyKind === undefined) return null;
  const fields = kind.value as MediaFields;
  const { url, directPath, mediaKey, mimetype, fileName } = fields;
  if (!directPath && !url) return null;
  const sha256 = hashOf(fields.fileSha256);
  return {
    keyKind,
    url: url ?? '',
    directPath: directPath ?? '',
    mediaKey: mediaKey?.length ? mediaKey : null,
    sha256,
    encryptedSha256: hashOf(fields.fileEncSha256),
    facts: {
      hash: sha256?.toString('hex') ?? '',
      kind: kind.facts.mediaType,
      size: numberOf(fields.fileLength),
      mimetype: mimetype ?? '',
      filename: (fileName ?? '').split(/[/\\]/).at(-1) ?? '',
    },
  };
};

/** Reads the facts that a message tells about its file. */
export const mediaFacts = (message: Pick<Message, 'raw'>, quoted: boolean): MediaFacts | null =>
  mediaPartOf(message, quoted)?.facts ?? null;

// The stream of a file from the media host, opened on the way. The library's own stream is not used: it checks neither the authentication
// code nor any hash. An answer that breaks off is an uncaught error, which ends the process.

/** The host does not have the file, and will not get it by itself. */
export class MediaGone extends Error {
  override readonly name = 'MediaGone';
}

/** The host did not answer, answered with something else, or broke off: another try may work. */
export class MediaBroken extends Error {
  override readonly name = 'MediaBroken';
}

/** The bytes are not those that the message names. */
export class MediaForged extends Error {
  override readonly name = 'MediaForged';
}

/** The platform answers 403 if the signature of a path has expired. */
const goneStatuses: ReadonlySet<number> = new Set([403, 404, 410]);

/** Length of the authentication code at the end of an encrypted file, in bytes. */
const macLength = 10;

interface MediaRequest {
  readonly url: string;
  readonly dispatcher: Dispatcher | undefined;
  /** Milliseconds without a byte after which the answer counts as broken. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

const openAnswer = async ({ url, dispatcher, silenceMs, signal }: MediaRequest): Promise<AsyncIterable<Buffer>> => {
  const limits = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const headers = { origin: 'https://web.whatsapp.com' };
  const answer = await request(url, { signal, headers, ...limits, ...(dispatcher ? { dispatcher } : {}) });
  if (answer.statusCode === 200) return answer.body;
  await answer.body.dump({ limit: 65_536 });
  if (goneStatuses.has(answer.statusCode)) throw new MediaGone(`the media host answered ${answer.statusCode}`);
  throw new MediaBroken(`the media host answered ${answer.statusCode}`);
};

/** Turns network errors of an answer into `MediaBroken`. An abort stays an abort. */
async function* withoutSurprises(asked: MediaRequest): AsyncGenerator<Buffer> {
  try {
    yield* await openAnswer(asked);
  } catch (error) {
    if (asked.signal.aborted || error instanceof MediaGone || error instanceof MediaBroken) throw error;
    throw new MediaBroken('the connection to the media host failed', { cause: error });
  }
}

const same = (one: Uint8Array, other: Uint8Array): boolean => one.length === other.length && timingSafeEqual(one, other);

export interface Seal {
  readonly iv: Uint8Array;
  readonly macKey: Uint8Array;
  /** Null where the sender did not say. */
  readonly encryptedSha256: Uint8Array | null;
}

/** Computes authentication code and hash of an encrypted file while its bytes come. */
export class SealCheck {
  readonly #mac: Hmac;
  readonly #sum = createHash('sha256');
  readonly #expected: Uint8Array | null;
  /** The last bytes so far, which may be the code. */
  #tail: Buffer = Buffer.alloc(0);

  constructor({ iv, macKey, encryptedSha256 }: Seal) {
    this.#mac = createHmac('sha256', macKey).update(iv);
    this.#expected = encryptedSha256;
  }

  /** Returns the next bytes of the cipher text, without the bytes that may be the code. */
  take(chunk: Buffer): Buffer {
    this.#sum.update(chunk);
    const all = Buffer.concat([this.#tail, chunk]);
    const text = all.subarray(0, Math.max(0, all.length - macLength));
    this.#tail = all.subarray(text.length);
    this.#mac.update(text);
    return text;
  }

  /** Call once, after the last byte. Throws `MediaForged` if the code or the hash differs. */
  finish(): void {
    if (!same(this.#mac.digest().subarray(0, macLength), this.#tail))
      throw new MediaForged('the file has another authentication code than its bytes');
    if (this.#expected !== null && !same(this.#sum.digest(), this.#expected)) throw new MediaForged('the encrypted file has another hash');
  }
}

/** Decrypts the stream. The caller must not use any of the bytes before the end, because the authentication code and the hash are checked last. */
async function* opened(encrypted: AsyncIterable<Buffer>, part: MediaPart & { readonly mediaKey: Uint8Array }): AsyncGenerator<Buffer> {
  const { iv, cipherKey, macKey } = await getMediaKeys(part.mediaKey, part.keyKind);
  if (macKey === undefined) throw new MediaForged('the message has no key for its file');
  const check = new SealCheck({ iv, macKey, encryptedSha256: part.encryptedSha256 });
  const cipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  for await (const chunk of encrypted) {
    const text = check.take(chunk);
    if (text.length > 0) yield cipher.update(text);
  }
  check.finish();
  yield finished(() => cipher.final());
}

const finished = (end: () => Buffer): Buffer => {
  try {
    return end();
  } catch {
    throw new MediaForged('the file does not end like an encrypted one');
  }
};

/** Reads the bytes of an unencrypted file. Fails with `MediaGone` or `MediaBroken`. */
export const plainStream = (asked: MediaRequest): AsyncIterable<Buffer> => withoutSurprises(asked);

/**
 * The bytes of a file; the writer checks the hash of the file itself. Fails with `MediaGone`, `MediaBroken` or `MediaForged`. The last one comes only
 * at the end: the reader must then throw away everything that it has read.
 */
export const mediaStream = (part: MediaPart, asked: MediaRequest): AsyncIterable<Buffer> => {
  const raw = withoutSurprises(asked);
  const { mediaKey } = part;
  return mediaKey === null ? raw : opened(raw, { ...part, mediaKey });
};

// Downloads of files from the media hosts: their parts and limits.

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
