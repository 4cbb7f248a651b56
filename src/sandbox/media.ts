/** Storage, encryption and decryption of media files, for the media host and for simulated phones. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aesDecryptWithIV, aesEncrypWithIV, getMediaKeys, hmacSign } from '@whiskeysockets/baileys';
import type { MediaPart } from './content.ts';
import { SandboxError } from './interface.ts';
import type { Random } from './random.ts';

/** The largest size of a file, in bytes. */
export const maxMedia = 100 * 1024 * 1024;
const maxTotal = 4 * 1024 * 1024 * 1024;
/** Length of the authentication code at the end of an encrypted file, in bytes. */
const macLength = 10;
/** The suffix of files that did not arrive completely. */
const partSuffix = '.part';
const name = /^(?:\/m1)?\/v\/([0-9a-f]{64})\.enc(\?|$)/;

/** The fields of a media message that locate the file and decrypt it. */
export interface SealedMedia {
  readonly url: string;
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  readonly fileSha256: Uint8Array;
  readonly fileEncSha256: Uint8Array;
  readonly fileLength: number;
  readonly mediaKeyTimestamp: number;
}

export class Media {
  /** The two addresses of the media host, as host and port. Clients use the second if the first fails. Both addresses are set after the port was opened. */
  hosts: readonly [string, string] = ['', ''];
  readonly #folder: string;
  readonly #random: Random;
  readonly #turns = new Map<string, Promise<void>>();
  readonly #mostBytes: number;
  /** The names of all files. A file that is stored again needs no further space. */
  readonly #names = new Set<string>();
  /** Size of all files together, in bytes. */
  #bytes = 0;

  /** `mostBytes`: the largest size of all files together, in bytes. */
  constructor(dataDir: string, random: Random, mostBytes = maxTotal) {
    this.#mostBytes = mostBytes;
    this.#folder = join(dataDir, 'media');
    this.#random = random;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(this.#folder)) if (file.endsWith(partSuffix)) rmSync(join(this.#folder, file));
    for (const file of readdirSync(this.#folder)) this.#count(file, statSync(join(this.#folder, file)).size);
  }

  url(directPath: string): string {
    return `https://${this.hosts[0]}${directPath}`;
  }

  /** Returns the path of the stored file for a direct path; `undefined` if the direct path is malformed. */
  locate(directPath: string): string | undefined {
    const id = name.exec(directPath)?.[1];
    return id === undefined ? undefined : join(this.#folder, id);
  }

  async size(file: string): Promise<number | undefined> {
    return stat(file).then(
      ({ size }) => size,
      () => undefined,
    );
  }

  /** Returns the path of the part file of an upload. `token` is the expected hash of the file, in URL-safe base64. */
  part(token: string): string {
    return join(this.#folder, Buffer.from(token, 'base64url').toString('hex').slice(0, 64) + partSuffix);
  }

  /** Runs `work` on the part file of an upload after all earlier work on the same file. */
  async inTurn<T>(token: string, work: () => Promise<T>): Promise<T> {
    const part = this.part(token);
    const mine = (this.#turns.get(part) ?? Promise.resolve()).then(work);
    const ended = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(part, ended);
    void ended.then(() => this.#turns.get(part) === ended && this.#turns.delete(part));
    return mine;
  }

  async partSize(token: string): Promise<number> {
    return (await this.size(this.part(token))) ?? 0;
  }

  /** Returns the direct path of a file that was uploaded before; `undefined` if there is none. */
  async stored(token: string): Promise<string | undefined> {
    const id = Buffer.from(token, 'base64url').toString('hex');
    return (await this.size(join(this.#folder, id))) === undefined ? undefined : pathOf(id);
  }

  /** Turns a complete upload into a file, and returns its direct path. If the hash differs, deletes the part file and returns `undefined`. */
  async adopt(token: string): Promise<string | undefined> {
    const part = this.part(token);
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of createReadStream(part) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
    const digest = hash.digest();
    if (digest.toString('base64url') !== token) {
      await rm(part, { force: true });
      return undefined;
    }
    const id = digest.toString('hex');
    this.#reserve(id, size);
    await rename(part, join(this.#folder, id));
    return pathOf(id);
  }

  /** Stores an encrypted file and returns its direct path. */
  async keep(encrypted: Uint8Array): Promise<string> {
    const id = sha256(encrypted).toString('hex');
    const file = join(this.#folder, id);
    this.#reserve(id, encrypted.length);
    const temporary = `${file}.${this.#random.id()}`;
    await writeFile(temporary, encrypted);
    await rename(temporary, file);
    return pathOf(id);
  }

  /** Returns a direct path with a new signature, for a file that the phone uploads again. Both paths locate the same file. */
  again(directPath: string): string {
    return directPath.replace(/oh=[^&]*/, `oh=${this.#random.id()}`);
  }

  /** Stores a small file synchronously. A transaction of the database can therefore include the call. */
  keepNow(file: Uint8Array): string {
    const id = sha256(file).toString('hex');
    this.#reserve(id, file.length);
    writeFileSync(join(this.#folder, id), file);
    return pathOf(id);
  }

  /** Stores a file of a channel, which is not encrypted. */
  async keepPlain(file: Uint8Array): Promise<Partial<SealedMedia>> {
    const directPath = channelPath(await this.keep(file));
    return { url: this.url(directPath), directPath, fileSha256: sha256(file), fileLength: file.length };
  }

  #reserve(name: string, bytes: number): void {
    if (this.#names.has(name)) return;
    if (this.#bytes + bytes > this.#mostBytes) throw new SandboxError(507, 'the media folder is full');
    this.#count(name, bytes);
  }

  #count(name: string, bytes: number): void {
    this.#names.add(name);
    this.#bytes += bytes;
  }

  /** Encrypts and stores a file that a phone sends. */
  async seal(kind: MediaPart['kind'] | 'md-msg-hist', plain: Uint8Array): Promise<SealedMedia> {
    const mediaKey = this.#random.bytes(32);
    const keys = await getMediaKeys(mediaKey, kind);
    const ciphertext = aesEncrypWithIV(Buffer.from(plain), Buffer.from(keys.cipherKey), Buffer.from(keys.iv));
    const encrypted = Buffer.concat([ciphertext, macOf(keys.macKey, keys.iv, ciphertext)]);
    const directPath = await this.keep(encrypted);
    return {
      url: this.url(directPath),
      directPath,
      mediaKey,
      fileSha256: sha256(plain),
      fileEncSha256: sha256(encrypted),
      fileLength: plain.length,
      mediaKeyTimestamp: Math.floor(Date.now() / 1000),
    };
  }

  /** Loads, verifies and decrypts the file of a message. Rejects if the file is missing, or if a hash, the length or the authentication code differs. */
  async open(part: MediaPart): Promise<Buffer> {
    const file = this.locate(part.directPath ?? '');
    const encrypted = file ? await readFile(file).catch(() => undefined) : undefined;
    if (encrypted && !part.mediaKey && !part.fileEncSha256) return plainFile(encrypted, part);
    if (!encrypted || !part.mediaKey) throw new Error('media: no such file');
    if (!same(sha256(encrypted), part.fileEncSha256)) throw new Error('media: hash of the encrypted file differs');
    const keys = await getMediaKeys(part.mediaKey, part.kind);
    const ciphertext = encrypted.subarray(0, -macLength);
    if (!same(macOf(keys.macKey, keys.iv, ciphertext), encrypted.subarray(-macLength))) throw new Error('media: wrong authentication code');
    const plain = aesDecryptWithIV(ciphertext, Buffer.from(keys.cipherKey), Buffer.from(keys.iv));
    if (!same(sha256(plain), part.fileSha256)) throw new Error('media: hash of the file differs');
    if (Number(part.fileLength ?? plain.length) !== plain.length) throw new Error('media: length of the file differs');
    return plain;
  }
}

/** Returns a channel's file, which is not encrypted. Throws if its hash differs. */
const plainFile = (file: Buffer, { fileSha256 }: MediaPart): Buffer => {
  if (!same(sha256(file), fileSha256)) throw new Error('media: hash of the file differs');
  return file;
};

const pathOf = (id: string): string => `/v/${id}.enc?ccb=11-4&oh=${id.slice(0, 16)}`;

const channelPrefix = '/m1';

/** Returns the path of a channel's file. Such paths have a prefix. */
export const channelPath = (directPath: string): string => channelPrefix + directPath;

/** Returns the handle of a channel's file, by which a post refers to its upload; `undefined` for other files. */
export const handleOf = (directPath: string): string | undefined =>
  directPath.startsWith(channelPrefix) ? `4:${name.exec(directPath)?.[1]?.slice(0, 40) ?? ''}` : undefined;

export const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();

const macOf = (key: Uint8Array | undefined, iv: Uint8Array, ciphertext: Uint8Array): Buffer =>
  hmacSign(Buffer.concat([iv, ciphertext]), key ?? Buffer.alloc(0)).subarray(0, macLength);

function same(one: Uint8Array, other: Uint8Array | null | undefined): boolean {
  return other?.length === one.length && timingSafeEqual(one, other);
}

// Small previews of profile pictures. A preview is made at each download.

/** Width and height of a preview, in pixels. */
const side = 96;
const mark = `dst-jpg_s${side}x${side}`;

/** Returns the direct path of the preview of a picture. */
export const previewOf = (directPath: string): string => `${directPath}&stp=${mark}`;

export const isPreview = (url: URL): boolean => url.searchParams.get('stp') === mark;

/** Returns the preview as a JPEG. If the file is not a picture, returns the file itself. */
export async function makePreview(file: string): Promise<Buffer> {
  const bytes = await readFile(file);
  const { default: sharp } = await import('sharp');
  return sharp(bytes)
    .resize(side, side, { fit: 'cover' })
    .jpeg()
    .toBuffer()
    .catch(() => bytes);
}
