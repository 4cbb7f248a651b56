/** Reads the address and the key of a file from an encoded message, and decrypts the stream of the file from the media host. */
import { createDecipheriv, createHash, createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { getMediaKeys, type MediaType, proto } from '@whiskeysockets/baileys';
import { type Dispatcher, request } from 'undici';
import type { Message, Result } from '#actors/model.ts';
import type { MediaFacts, TakenFile } from '#actors/ports.ts';
import { numberOf } from '../events/library-values.ts';
import { contextOf, kindOf, unwrapped } from '../events/message-kinds.ts';

// The address and the key of a file in an encoded message.

/** The kind of key that decrypts the file, by the field of the protocol's `Message`. */
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
  /** The key. Null in channels, whose files are not encrypted. */
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

/** Returns the part with the file of a message, or of its quoted message. Returns null if there is none. */
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

/** Returns the facts about a file that its message contains. */
export const mediaFacts = (message: Pick<Message, 'raw'>, quoted: boolean): MediaFacts | null =>
  mediaPartOf(message, quoted)?.facts ?? null;

// The stream of a file from the media host, which is decrypted while it arrives. The library's own stream is not used, because it verifies
// neither the MAC nor any hash. If an answer is cut off, that stream also throws an uncaught error, which ends the process.

/** The error if the host no longer has the file. */
export class MediaGone extends Error {
  override readonly name = 'MediaGone';
}

/** The error of a failed request: the host did not answer, sent an error, or cut the answer off. A retry may succeed. */
export class MediaBroken extends Error {
  override readonly name = 'MediaBroken';
}

/** The error if the bytes are not the file of the message. */
export class MediaForged extends Error {
  override readonly name = 'MediaForged';
}

/** Statuses that mean a missing file. The host answers 403 if the signature of a path has expired. */
const goneStatuses: ReadonlySet<number> = new Set([403, 404, 410]);

/** The length of the MAC at the end of an encrypted file, in bytes. */
const macLength = 10;

interface MediaRequest {
  readonly url: string;
  readonly dispatcher: Dispatcher | undefined;
  /** The time without a byte after which the answer counts as broken. In milliseconds. */
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

/** Reads an answer, and converts network errors into `MediaBroken`. After an abort, errors are not converted. */
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
  /** The hash of the encrypted file; null if the sender did not send it. */
  readonly encryptedSha256: Uint8Array | null;
}

/** Verifies the MAC and the hash of an encrypted file while its bytes arrive. */
export class SealCheck {
  readonly #mac: Hmac;
  readonly #sum = createHash('sha256');
  readonly #expected: Uint8Array | null;
  /** The last bytes that arrived, which may be the MAC. */
  #tail: Buffer = Buffer.alloc(0);

  constructor({ iv, macKey, encryptedSha256 }: Seal) {
    this.#mac = createHmac('sha256', macKey).update(iv);
    this.#expected = encryptedSha256;
  }

  /** Adds bytes. Returns the next bytes of the cipher text, without the last bytes, which may be the MAC. */
  take(chunk: Buffer): Buffer {
    this.#sum.update(chunk);
    const all = Buffer.concat([this.#tail, chunk]);
    const text = all.subarray(0, Math.max(0, all.length - macLength));
    this.#tail = all.subarray(text.length);
    this.#mac.update(text);
    return text;
  }

  /** Verifies the MAC and the hash. Call this once, after the last byte. Throws `MediaForged` if one of them differs. */
  finish(): void {
    if (!same(this.#mac.digest().subarray(0, macLength), this.#tail))
      throw new MediaForged('the file has another authentication code than its bytes');
    if (this.#expected !== null && !same(this.#sum.digest(), this.#expected)) throw new MediaForged('the encrypted file has another hash');
  }
}

/** Decrypts the stream. The caller must not use any bytes before the end, because the MAC and the hash are verified last. */
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
 * Reads the bytes of a file. The caller must check the hash of the decrypted file. Fails with `MediaGone`, `MediaBroken` or `MediaForged`. `MediaForged`
 * may come after the last byte, and the caller must then discard all bytes.
 */
export const mediaStream = (part: MediaPart, asked: MediaRequest): AsyncIterable<Buffer> => {
  const raw = withoutSurprises(asked);
  const { mediaKey } = part;
  return mediaKey === null ? raw : opened(raw, { ...part, mediaKey });
};

// The dependencies and limits of downloads.

/** The dependencies of downloads that all connections share. */
export interface Downloads {
  /** Writes a stream to a new file, when the instance has a free slot. Rejects with the errors of the stream, and then leaves no file. */
  receive(
    bytes: AsyncIterable<Uint8Array>,
    options: { readonly instance: string; readonly filename: string; readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Result<TakenFile>>;
  /** The size limit of a file, in bytes. */
  readonly most: number;
  /** The longest time without a byte from the media host. In milliseconds. */
  readonly silenceMs: number;
  /** Time limit for the phone to upload a file again. In milliseconds. */
  readonly phoneMs: number;
}

export interface LiveDownloads extends Downloads {
  readonly instance: string;
  /** The dispatcher for media hosts; undefined for the default dispatcher. */
  readonly dispatcher: Dispatcher | undefined;
  /**
   * The dispatcher for hosts that the platform did not offer (see `LiveRoute.guarded`). If this process resolves the names, the address guard checks the
   * addresses.
   */
  readonly guarded: Dispatcher | undefined;
}
