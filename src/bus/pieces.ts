/** Splits bodies into pieces for the bus, and joins the pieces again. */

/** The largest size of a piece: half of the default message limit of a NATS server. In bytes. */
export const pieceBytes = 524_288;
/** The size limit of one body, in bytes. */
export const mostBytes = 134_217_728;
/** The largest number of incomplete bodies in memory. A crash of a sender may leave such a body. Beyond the limit the oldest body is dropped. */
const mostOpen = 64;

export interface Piece {
  /** The id that all pieces of a body share; never empty. */
  readonly id: string;
  readonly index: number;
  readonly count: number;
  readonly data: Uint8Array;
}

/** Returns at least one piece, or null if the body is too large. */
export const inPieces = (id: string, body: Uint8Array): readonly Piece[] | null => {
  if (body.length > mostBytes) return null;
  const count = Math.max(1, Math.ceil(body.length / pieceBytes));
  return Array.from({ length: count }, (_, index) => ({
    id,
    index,
    count,
    data: body.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  }));
};

/** Joins pieces that arrive in order. Pieces of several bodies may alternate. */
export class Assembly {
  readonly #open = new Map<string, Uint8Array[]>();

  /** Adds a piece. Returns the whole body after its last piece; null before. If a piece is missing, the body is dropped. */
  add({ id, index, count, data }: Piece): Uint8Array | null {
    if (count === 1) return data;
    const known = this.#open.get(id) ?? [];
    if (index !== known.length || count * pieceBytes > mostBytes + pieceBytes) {
      this.#open.delete(id);
      return null;
    }
    known.push(data);
    this.#open.set(id, known);
    if (known.length < count) {
      const [oldest] = this.#open.keys();
      if (this.#open.size > mostOpen && oldest !== undefined) this.#open.delete(oldest);
      return null;
    }
    this.#open.delete(id);
    return Buffer.concat(known);
  }
}
