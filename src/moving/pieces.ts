/** Takes bytes off a stream, as many as are asked for. */
export class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #held = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Null at the end of the stream. */
  async take(bytes: number): Promise<Buffer | null> {
    const parts = [this.#held];
    let size = this.#held.length;
    while (size < bytes) {
      const { value, done } = await this.#source.next();
      if (done === true) break;
      parts.push(Buffer.from(value));
      size += value.length;
    }
    const whole = parts.length === 1 ? this.#held : Buffer.concat(parts);
    const taken = whole.length >= bytes ? whole.subarray(0, bytes) : null;
    this.#held = taken === null ? whole : whole.subarray(bytes);
    return taken;
  }

  /** Bytes up to the end of a line; null when there is no end within so many. */
  async line(most: number): Promise<Buffer | null> {
    const bytes: Buffer[] = [];
    for (;;) {
      const one = await this.take(1);
      if (one === null || bytes.length > most) return null;
      bytes.push(one);
      if (one[0] === 0x0a) return Buffer.concat(bytes);
    }
  }

  /** Ends the stream. */
  close(): void {
    void this.#source.return?.();
  }
}
