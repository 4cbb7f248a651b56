/** Reads files from the disk of another node. Without a shared bucket, the owner of the instance sends the file in pieces. */
import type { InstanceId } from '../model.ts';
import type { ByteRange, FileStore, KeptFile } from '../ports.ts';

/** Name of the method that asks the owner of an instance for a file, or for bytes of a file. */
export const fileMethod = '$file';

export interface RemoteFilesInput {
  readonly files: FileStore;
  owns(id: InstanceId): boolean;
  /** Asks the owner on another node. Resolves with null if no owner answers or has the file. Never rejects. */
  ask(id: InstanceId, args: readonly unknown[]): Promise<unknown>;
}

/** Bytes per answer of another node. */
const pieceBytes = 262_144;

const isFile = (answer: unknown): answer is KeptFile => {
  const { name, hash, size } = (answer ?? {}) as Partial<KeptFile>;
  return typeof name === 'string' && typeof hash === 'string' && typeof size === 'number';
};

export class RemoteFiles {
  readonly #input: RemoteFilesInput;

  constructor(input: RemoteFilesInput) {
    this.#input = input;
  }

  /** Answers another node with the file of this name, or with the given bytes of the file. Returns null if this node does not have the bytes. */
  async answer(name: unknown, start?: unknown, end?: unknown): Promise<KeptFile | Uint8Array | null> {
    const { files } = this.#input;
    const file = await files.named(String(name));
    if (file === null || start === undefined) return file;
    const bytes = await files.read(file, { start: Number(start), end: Math.min(Number(end), file.size - 1) });
    return bytes && Buffer.concat(await Array.fromAsync(bytes));
  }

  async named(name: string): Promise<KeptFile | null> {
    const { files } = this.#input;
    const here = await files.named(name);
    if (here !== null) return here;
    const holder = await this.#holder(name);
    const there = holder === null ? null : await this.#input.ask(holder, [name]);
    return isFile(there) ? there : null;
  }

  async read(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const here = await this.#input.files.read(file, range);
    if (here !== null) return here;
    const holder = await this.#holder(file.name);
    if (holder === null) return null;
    const { start, end } = range ?? { start: 0, end: file.size - 1 };
    const first = await this.#piece(holder, file, start, end);
    return first && this.#pieces(holder, file, { start, end }, first);
  }

  /** Returns the instance of the file if another node owns it, else null. */
  async #holder(name: string): Promise<InstanceId | null> {
    const id = await this.#input.files.holder(name);
    return id === null || this.#input.owns(id) ? null : id;
  }

  async *#pieces(id: InstanceId, file: KeptFile, { start, end }: ByteRange, first: Uint8Array): AsyncGenerator<Uint8Array> {
    yield first;
    for (let at = start + first.length; at <= end;) {
      const piece = await this.#piece(id, file, at, end);
      if (piece === null) throw new Error('the node that has the file does not answer any more');
      yield piece;
      at += piece.length;
    }
  }

  /** Returns null if the owner does not answer with bytes. */
  async #piece(id: InstanceId, { name }: KeptFile, start: number, end: number): Promise<Uint8Array | null> {
    const piece = await this.#input.ask(id, [name, start, Math.min(end, start + pieceBytes - 1)]);
    return piece instanceof Uint8Array && piece.length > 0 ? piece : null;
  }
}
