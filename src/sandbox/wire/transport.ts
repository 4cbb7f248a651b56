/** The transport of a client's stream: its frames, and the platform's side of the Noise handshakes (25519, AES-GCM, SHA-256). */
import { inflateSync } from 'node:zlib';
import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  decodeDecompressedBinaryNode,
  encodeBinaryNode,
  hkdf,
  type KeyPair,
  NOISE_MODE,
  sha256,
} from '@whiskeysockets/baileys';
import * as tokens from '@whiskeysockets/baileys/lib/WABinary/constants.js';
import type { BinaryNode } from '../nodes.ts';

// Cuts a client's byte stream into frames. The stream begins with an intro. Each frame has its length in three bytes before the data. A
// WebSocket message may end anywhere in a frame.

/** The intro of a client that speaks this version of the protocol: "WA", 6, dictionary 3. */
export const intro = Buffer.from([0x57, 0x41, 6, 3]);

export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #introduced = false;
  /** The largest size of a frame, in bytes. The connection raises the limit after the handshake. */
  limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds bytes and returns the frames that are now complete. Throws if the stream has another protocol, or if a frame is too large. */
  *push(data: Buffer): Generator<Buffer> {
    this.#chunks.push(data);
    this.#length += data.length;
    for (;;) {
      if (!this.#introduced && !this.#readIntro()) return;
      if (this.#length < 3) return;
      const size = this.#peek(3).readUIntBE(0, 3);
      if (size > this.limit) throw new Error('frame too large');
      if (this.#length < size + 3) return;
      yield this.#take(size + 3).subarray(3);
    }
  }

  /**
   * Skips the intro and the routing prefix before it, if there is one (`E D 0 1`, length, bytes). Returns false if more bytes are needed.
   */
  #readIntro(): boolean {
    if (this.#length < 4) return false;
    let skip = 0;
    if (this.#peek(2).equals(Buffer.from('ED'))) {
      if (this.#length < 7) return false;
      const size = this.#peek(7).readUIntBE(4, 3);
      if (size > this.limit) throw new Error('routing prefix too large');
      skip = 7 + size;
    }
    if (this.#length < skip + 4) return false;
    if (
      !this.#take(skip + 4)
        .subarray(skip)
        .equals(intro)
    )
      throw new Error('not a client of this protocol version');
    this.#introduced = true;
    return true;
  }

  #peek(length: number): Buffer {
    if ((this.#chunks[0]?.length ?? 0) < length) this.#chunks = [Buffer.concat(this.#chunks)];
    return (this.#chunks[0] ?? Buffer.alloc(0)).subarray(0, length);
  }

  #take(length: number): Buffer {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    this.#chunks = all.length > length ? [all.subarray(length)] : [];
    this.#length -= length;
    return all.subarray(0, length);
  }
}

/** Puts the length before the data. */
export function frame(data: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(3 + data.length);
  framed.writeUIntBE(data.length, 0, 3);
  framed.set(data, 3);
  return framed;
}

// Encoding and decoding of nodes. Baileys' own decoder is asynchronous and inflates without a limit. This decoder is synchronous and has a
// limit.

/** Largest frame, in bytes, before and after inflating. */
export const maxFrame = 4 * 1024 * 1024;

const { LIST_EMPTY, LIST_8, LIST_16, BINARY_8, BINARY_20, BINARY_32 } = tokens.TAGS;

const listOf = (size: number): Uint8Array =>
  Uint8Array.from(size === 0 ? [LIST_EMPTY] : size < 256 ? [LIST_8, size] : [LIST_16, size >> 8, size & 255]);

const bytesOf = (bytes: Uint8Array): readonly Uint8Array[] => {
  const { length } = bytes;
  if (length < 256) return [Uint8Array.from([BINARY_8, length]), bytes];
  if (length < 1 << 20) return [Uint8Array.from([BINARY_20, length >> 16, (length >> 8) & 255, length & 255]), bytes];
  return [Uint8Array.from([BINARY_32, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]), bytes];
};

/**
 * Encodes a node with every text as plain bytes, without the short forms for addresses and frequent words. The result is longer, and
 * correct for any text.
 */
const literally = ({ tag, attrs, content }: BinaryNode): readonly Uint8Array[] => {
  const given = Object.entries(attrs).filter(([, value]) => typeof value === 'string');
  const texts = [tag, ...given.flat()].flatMap((text) => bytesOf(Buffer.from(text)));
  const head = [listOf(2 * given.length + 1 + (content === undefined ? 0 : 1)), ...texts];
  if (content === undefined) return head;
  return Array.isArray(content)
    ? [...head, listOf(content.length), ...content.flatMap(literally)]
    : [...head, ...bytesOf(Buffer.from(content))];
};

/** Texts with `@` that the library's encoder handles correctly. */
const address = /^[\w.-]*(:\d{1,2})?@[a-z.]+$/;
const isOdd = ({ attrs, content }: BinaryNode): boolean =>
  Object.values(attrs).some((value) => typeof value === 'string' && value.includes('@') && (value.includes('_') || !address.test(value))) ||
  (Array.isArray(content) && content.some(isOdd));

/**
 * Encodes a node. The library's encoder writes every text with `@` as an address. The result for a name such as `Shop@` cannot be decoded. Nodes with such
 * texts are therefore encoded by `literally`.
 */
export const encodeNode = (one: BinaryNode): Uint8Array =>
  isOdd(one) ? Buffer.concat([Buffer.of(0), ...literally(one)]) : encodeBinaryNode(one);

/** Decodes a node. Bit 1 of the first byte means that the following bytes are deflated. Throws if the bytes are not a node. */
export function decodeNode(encoded: Uint8Array): BinaryNode {
  const buffer = Buffer.from(encoded);
  const rest = buffer.subarray(1);
  const body = ((buffer[0] ?? 0) & 2) > 0 ? inflateSync(rest, { maxOutputLength: maxFrame }) : rest;
  return decodeDecompressedBinaryNode(body, tokens);
}

// The platform's side of the Noise handshakes (25519, AES-GCM, SHA-256) and of the encrypted transport after them. IK and XXfallback follow vinikjkkj/zapo
// (`src/transport/noise/WaNoiseSession.ts`).

const empty = Buffer.alloc(0);

/** Returns the AES-GCM nonce: eight zero bytes, then the counter. */
function nonce(counter: number): Uint8Array {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
}

export interface Transport {
  seal(plaintext: Uint8Array): Uint8Array;
  open(ciphertext: Uint8Array): Uint8Array;
}

/** The initial handshake hash of each Noise pattern. A protocol name of 32 bytes is used unchanged. A longer name is hashed. */
const patterns = {
  XX: Buffer.from(NOISE_MODE),
  IK: Buffer.from('Noise_IK_25519_AESGCM_SHA256\0\0\0\0'),
  XXfallback: sha256(Buffer.from('Noise_XXfallback_25519_AESGCM_SHA256')),
};

/** The first frame of a client that knows the platform's key. */
export interface Resumption {
  readonly ephemeral: Uint8Array;
  readonly static: Uint8Array;
  readonly payload: Uint8Array;
}

interface Opened {
  readonly clientStatic: Buffer;
  readonly payload: Buffer;
}

/**
 * The platform's side of a handshake. Order of calls for XX and XXfallback: `readHello`, `writeHello`, `readFinish`, `split`. Order for IK: `readResumption`,
 * `writeResumption`, `split`. A read throws if the bytes are not authentic.
 */
export class NoiseResponder {
  #hash: Buffer;
  #salt: Uint8Array;
  #key: Uint8Array;
  #counter = 0;
  #clientEphemeral: Uint8Array = empty;
  readonly #ephemeral = Curve.generateKeyPair();

  constructor(header: Uint8Array, pattern: keyof typeof patterns = 'XX') {
    this.#hash = patterns[pattern];
    this.#salt = this.#hash;
    this.#key = this.#hash;
    this.#mixHash(header);
  }

  readResumption(staticKey: KeyPair, hello: Resumption): Opened {
    this.#mixHash(staticKey.public);
    this.readHello(hello.ephemeral);
    this.#mixKey(Curve.sharedKey(staticKey.private, hello.ephemeral));
    const clientStatic = this.#decrypt(hello.static);
    this.#mixKey(Curve.sharedKey(staticKey.private, clientStatic));
    return { clientStatic, payload: this.#decrypt(hello.payload) };
  }

  writeResumption(clientStatic: Uint8Array, chain: Uint8Array): { ephemeral: Uint8Array; payload: Uint8Array } {
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, this.#clientEphemeral));
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, clientStatic));
    return { ephemeral: this.#ephemeral.public, payload: this.#encrypt(chain) };
  }

  readHello(clientEphemeral: Uint8Array): void {
    this.#mixHash(clientEphemeral);
    this.#clientEphemeral = clientEphemeral;
  }

  writeHello(staticKey: KeyPair, chain: Uint8Array): { ephemeral: Uint8Array; static: Uint8Array; payload: Uint8Array } {
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, this.#clientEphemeral));
    const sealedStatic = this.#encrypt(staticKey.public);
    this.#mixKey(Curve.sharedKey(staticKey.private, this.#clientEphemeral));
    return { ephemeral: this.#ephemeral.public, static: sealedStatic, payload: this.#encrypt(chain) };
  }

  readFinish(sealedStatic: Uint8Array, payload: Uint8Array): Opened {
    const clientStatic = this.#decrypt(sealedStatic);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, clientStatic));
    return { clientStatic, payload: this.#decrypt(payload) };
  }

  split(): Transport {
    const [read, write] = this.#derive(empty);
    let sealed = 0;
    let opened = 0;
    return {
      seal: (plaintext) => aesEncryptGCM(plaintext, write, nonce(sealed++), empty),
      open: (ciphertext) => aesDecryptGCM(ciphertext, read, nonce(opened++), empty),
    };
  }

  #derive(material: Uint8Array): [Uint8Array, Uint8Array] {
    const output = hkdf(Buffer.from(material), 64, { salt: Buffer.from(this.#salt), info: '' });
    return [output.subarray(0, 32), output.subarray(32)];
  }

  #mixKey(material: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(material);
    this.#counter = 0;
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #encrypt(plaintext: Uint8Array): Buffer {
    const result = aesEncryptGCM(plaintext, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(result);
    return result;
  }

  #decrypt(ciphertext: Uint8Array): Buffer {
    const result = aesDecryptGCM(ciphertext, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(ciphertext);
    return result;
  }
}
