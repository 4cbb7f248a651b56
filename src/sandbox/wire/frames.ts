/**
 * Cuts a client's byte stream into frames. The stream begins with an intro; each frame has its length in three bytes before it. A WebSocket
 * message may end anywhere in a frame.
 */

/** The intro of a client that speaks this version of the protocol: "WA", 6, dictionary 3. */
export const intro = Buffer.from([0x57, 0x41, 6, 3]);

export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #introduced = false;
  /** Largest frame that is accepted, in bytes. Raised after the handshake. */
  limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds bytes and returns the frames that are now complete. Throws when the protocol is another one or a frame is too large. */
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

  /** Skips the intro and the routing prefix before it, if there is one (`E D 0 1`, length, bytes). False: more bytes are needed. */
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
