/**
 * A file as the media host gets it: encrypted while it is read. A large one is encrypted once to learn its hash, which is part of the address, and
 * again for each transmission, so that no encrypted copy lies on the disk or in memory.
 */
import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';

export type UploadType = 'image' | 'video' | 'audio' | 'document';

const keyNames: Readonly<Record<UploadType, string>> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
};

/** Bytes that are read and encrypted in one piece; a millisecond of work. */
const pieceBytes = 256 * 1024;
/** Files up to this size are encrypted once and held until they are sent: reading them again costs more than the memory. */
const heldBytes = 512 * 1024;
const macBytes = 10;

interface Keys {
  readonly iv: Buffer;
  readonly cipher: Buffer;
  readonly mac: Buffer;
}

const keysOf = (mediaKey: Uint8Array, type: UploadType): Keys => {
  const expanded = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), keyNames[type], 112));
  return { iv: expanded.subarray(0, 16), cipher: expanded.subarray(16, 48), mac: expanded.subarray(48, 80) };
};

/** The ciphertext, without the authentication code at its end. Closes the file however it ends. */
async function* ciphertext(path: string, { cipher, iv }: Keys): AsyncGenerator<Buffer> {
  const encryption = createCipheriv('aes-256-cbc', cipher, iv);
  // One buffer for all pieces: a new one for each would cost more in collections than the encryption.
  const buffer = Buffer.allocUnsafeSlow(pieceBytes);
  await using file = await open(path, 'r');
  for (;;) {
    const { bytesRead } = await file.read(buffer);
    if (bytesRead === 0) break;
    yield encryption.update(buffer.subarray(0, bytesRead));
  }
  yield encryption.final();
}

export interface SealedFile {
  readonly mediaKey: Uint8Array;
  /** SHA-256 of what is sent. */
  readonly hash: Buffer;
  /** Bytes of what is sent. */
  readonly size: number;
  /** What is sent, from this byte on. */
  bytes(offset: number): AsyncGenerator<Buffer>;
}

/** Reads the file once. The path must keep its bytes for as long as the result is used. */
export const sealFile = async (path: string, type: UploadType, signal: AbortSignal): Promise<SealedFile> => {
  const mediaKey = randomBytes(32);
  const keys = keysOf(mediaKey, type);
  const [authentication, hash] = [createHmac('sha256', keys.mac).update(keys.iv), createHash('sha256')];
  let size = macBytes;
  let held: Buffer[] | null = [];
  for await (const piece of ciphertext(path, keys)) {
    signal.throwIfAborted();
    authentication.update(piece);
    hash.update(piece);
    size += piece.length;
    if (size > heldBytes) held = null;
    held?.push(piece);
  }
  const mac = authentication.digest().subarray(0, macBytes);
  const pieces = held;
  async function* whole(): AsyncGenerator<Buffer> {
    yield* pieces ?? ciphertext(path, keys);
    yield mac;
  }
  async function* bytes(offset: number): AsyncGenerator<Buffer> {
    let skipped = 0;
    for await (const piece of whole()) {
      const rest = piece.subarray(Math.min(piece.length, Math.max(0, offset - skipped)));
      skipped += piece.length;
      if (rest.length > 0) yield rest;
    }
  }
  return { mediaKey, hash: hash.update(mac).digest(), size, bytes };
};
