/**
 * A file in the form for the media host. It is encrypted once before the first byte is sent, because its hash is a part of the address. A small file is
 * held in memory. For a large file, a thread makes an encrypted copy in the temporary folder, from which each attempt reads.
 */
import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileStore, KeptFile } from '#actors/ports.ts';
import { lacksRoom } from '#src/files/blobs.ts';
import { macBytes, type SealKeys } from '#src/media/seal-worker.ts';
import { release } from '#src/media/release.ts';
import type { Sealing } from '#src/media/media.ts';

export type UploadType = 'image' | 'video' | 'audio' | 'document';

/** The upload types of channels. Their files are not encrypted. */
export type ChannelUploadType = `newsletter-${'image' | 'video' | 'gif' | 'audio' | 'ptt' | 'document' | 'sticker'}`;

export const isForChannel = (type: UploadType | ChannelUploadType): type is ChannelUploadType => type.startsWith('newsletter-');

const keyNames: Readonly<Record<UploadType, string>> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
};

/**
 * The size up to which a file is encrypted on the main thread. The encryption takes at most two milliseconds. A thread and a copy on the disk would cost more.
 * In bytes.
 */
const heldBytes = 512 * 1024;

const keysOf = (mediaKey: Uint8Array, type: UploadType): SealKeys => {
  const expanded = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), keyNames[type], 112));
  return { iv: expanded.subarray(0, 16), cipher: expanded.subarray(16, 48), mac: expanded.subarray(48, 80) };
};

export interface SealedFile {
  /** The key; null for an unencrypted file. */
  readonly mediaKey: Uint8Array | null;
  /** The SHA-256 of the uploaded bytes. */
  readonly hash: Buffer;
  /** The number of uploaded bytes. */
  readonly size: number;
  /**
   * Streams the file from this offset, in buffers. The third buffer after a buffer reuses its memory. The reader must therefore use only the current buffer
   * and the two buffers before it. A stream with back pressure does so.
   */
  bytes(offset: number): AsyncGenerator<Buffer>;
  /** Finds the fault after a failed upload. Rejects if the stored file cannot be read. Absent if the upload reads no stored file. */
  check?(): Promise<unknown>;
  /** Releases the bytes or the file behind them. Never rejects. `arrived`: true if the host has all bytes. No socket reads the bytes then. */
  release(arrived: boolean): Promise<unknown>;
}

type Sealed = Omit<SealedFile, 'mediaKey'>;

const inMemory = (plain: Uint8Array, { iv, cipher, mac }: SealKeys): Sealed => {
  const encryption = createCipheriv('aes-256-cbc', cipher, iv);
  const begin = encryption.update(plain);
  release(plain);
  const end = encryption.final();
  const code = createHmac('sha256', mac).update(iv).update(begin).update(end).digest().subarray(0, macBytes);
  const hash = createHash('sha256').update(begin).update(end).update(code).digest();
  const tail = Buffer.concat([end, code]);
  async function* bytes(offset: number): AsyncGenerator<Buffer> {
    if (offset < begin.length) yield begin.subarray(offset);
    yield tail.subarray(Math.max(0, offset - begin.length));
  }
  return { hash, size: begin.length + tail.length, bytes, release: async (arrived) => arrived && release(begin) };
};

/** The size of a buffer. It exceeds the high-water mark of a socket, so at most one buffer is being sent. In bytes. */
const pieceBytes = 128 * 1024;
const pieces = 3;

/** Reads a file into three buffers in turn. A new buffer for each read would cause a full garbage collection every 32 MiB. */
async function* fileBytes(path: string, offset: number): AsyncGenerator<Buffer> {
  const buffers = Array.from({ length: pieces }, () => Buffer.allocUnsafeSlow(pieceBytes));
  await using file = await open(path, 'r');
  let position = offset;
  for (let count = 0; ; count += 1) {
    const buffer = buffers[count % pieces]!;
    const { bytesRead } = await file.read(buffer, 0, pieceBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export interface SealParts {
  readonly files: Pick<FileStore, 'whole' | 'localCopy' | 'readThrough'>;
  readonly sealing: Sealing;
}

const onDisk = async (file: KeptFile, keys: SealKeys, { files, sealing }: SealParts, signal: AbortSignal): Promise<Sealed | null> => {
  const source = await files.localCopy(file);
  if (source === null) return null;
  try {
    const copy = await sealing.seal(source.path, keys, signal);
    return { ...copy, hash: Buffer.from(copy.hash), bytes: (offset) => fileBytes(copy.path, offset) };
  } catch (error) {
    // A lack of room concerns only the encrypted copy. Any other error may come from the stored file, so `readThrough` checks this file.
    if (!signal.aborted && !lacksRoom(error)) await files.readThrough(file);
    throw error;
  } finally {
    await source.release();
  }
};

/** Returns an unencrypted file for a channel. Returns null and rejects like `sealFile`. */
export const plainFile = async (file: KeptFile, { files }: SealParts): Promise<SealedFile | null> => {
  const facts = { mediaKey: null, hash: Buffer.from(file.hash, 'hex'), size: file.size };
  if (file.size > heldBytes) {
    const source = await files.localCopy(file);
    if (source === null) return null;
    let isBroken = false;
    async function* stored(offset: number): AsyncGenerator<Buffer> {
      try {
        yield* fileBytes(source!.path, offset);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    }
    return { ...facts, bytes: stored, check: async () => isBroken && files.readThrough(file), release: () => source.release() };
  }
  const plain = await files.whole(file);
  if (plain === null) return null;
  async function* bytes(offset: number): AsyncGenerator<Buffer> {
    yield Buffer.from(plain!.buffer, plain!.byteOffset + offset, plain!.length - offset);
  }
  return { ...facts, bytes, release: async (arrived) => arrived && release(plain) };
};

/** Encrypts a file. Returns null if its bytes no longer exist. Rejects with `FilesUnavailable` if the store does not answer. */
export const sealFile = async (file: KeptFile, type: UploadType, parts: SealParts, signal: AbortSignal): Promise<SealedFile | null> => {
  const mediaKey = randomBytes(32);
  const keys = keysOf(mediaKey, type);
  if (file.size > heldBytes) {
    const sealed = await onDisk(file, keys, parts, signal);
    return sealed && { mediaKey, ...sealed };
  }
  const plain = await parts.files.whole(file);
  return plain && { mediaKey, ...inMemory(plain, keys) };
};
