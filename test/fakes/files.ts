/** Files in memory: the real store, on rows and blobs in maps. */
import { createHash } from 'node:crypto';
import type { Blob, FileKey, FileRow, FileRows, FileStore, TakenFile } from '#actors/ports.ts';
import type { BlobStore } from '#src/files/blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';

const newest = (rows: readonly FileRow[]): FileRow | null => rows.toSorted((a, b) => b.created - a.created)[0] ?? null;

class FakeFileRows implements FileRows {
  readonly rows = new Map<string, FileRow>();

  #where(test: (row: FileRow) => boolean): readonly FileRow[] {
    return [...this.rows.values()].filter(test);
  }

  #remove(rows: readonly FileRow[]): readonly Blob[] {
    for (const { name } of rows) this.rows.delete(name);
    return [...new Map(rows.map(({ hash, size }) => [hash, { hash, size }])).values()];
  }

  async add(row: FileRow): Promise<FileRow> {
    const known = this.#where(({ instanceId, hash }) => instanceId === row.instanceId && hash === row.hash)[0];
    const said = Object.fromEntries(
      Object.entries(row).filter(([key, value]) => /filename|messageId|madeOf|used/.test(key) && value !== ''),
    );
    const kept = known ? { ...known, ...said } : row;
    this.rows.set(kept.name, kept);
    return kept;
  }

  async find(instance: string, key: FileKey): Promise<FileRow | null> {
    const wanted = Object.entries(key);
    const fits = (row: FileRow): boolean => wanted.every(([field, value]) => value !== '' && row[field as keyof FileRow] === value);
    return newest(this.#where((row) => row.instanceId === instance && fits(row)));
  }

  async named(name: string): Promise<FileRow | null> {
    return this.rows.get(name) ?? null;
  }

  async touch(name: string, used: number): Promise<void> {
    const row = this.rows.get(name);
    if (row) this.rows.set(name, { ...row, used });
  }

  async whileUnkept(hash: string, work: () => Promise<void>): Promise<boolean> {
    if (this.#where((row) => row.hash === hash).length > 0) return false;
    await work();
    return true;
  }

  async startingWith(prefix: string): Promise<readonly Blob[]> {
    return this.#where(({ hash }) => hash.startsWith(prefix));
  }

  async removeHash(hash: string): Promise<void> {
    this.#remove(this.#where((row) => row.hash === hash));
  }

  async removeUnused(before: number, limit: number): Promise<readonly Blob[]> {
    const old = this.#where(({ used }) => used < before).toSorted((a, b) => a.used - b.used);
    return this.#remove(old.slice(0, limit));
  }

  async unused(before: number, after: { readonly used: number; readonly name: string }, limit: number): Promise<readonly FileRow[]> {
    const isBehind = ({ used, name }: FileRow): boolean => used > after.used || (used === after.used && name > after.name);
    const old = this.#where((row) => row.used < before && isBehind(row));
    return old.toSorted((a, b) => a.used - b.used || (a.name < b.name ? -1 : 1)).slice(0, limit);
  }

  async removeNamed(names: readonly string[], before: number): Promise<readonly Blob[]> {
    return this.#remove(this.#where(({ name, used }) => names.includes(name) && used < before));
  }

  async removeOf(instance: string, limit: number): Promise<readonly Blob[]> {
    return this.#remove(this.#where(({ instanceId }) => instanceId === instance).slice(0, limit));
  }
}

export interface FakeFiles {
  readonly files: FileStore;
  /** Returns a temporary file that is neither kept nor discarded yet. */
  taken(text: string, about?: Partial<TakenFile>): TakenFile;
  /** Paths of the temporary files that were neither kept nor discarded. */
  readonly loose: ReadonlySet<string>;
  /** Removes the bytes of a stored file, as a broken disk would. */
  lose(hash: string): void;
}

export const createFakeFiles = (input: { readonly baseUrl: string; hex(bytes: number): string; now(): number }): FakeFiles => {
  const disk = new Map<string, Buffer>();
  const kept = new Map<string, Buffer>();
  const loose = new Set<string>();
  let count = 0;
  const drop = async (path: string): Promise<void> => {
    disk.delete(path);
    loose.delete(path);
  };
  const blobs: BlobStore = {
    size: async (hash) => kept.get(hash)?.length ?? null,
    put: async (hash, path) => void kept.set(hash, disk.get(path) ?? Buffer.alloc(0)),
    async read(hash, range) {
      const bytes = kept.get(hash);
      const part = range ? bytes?.subarray(range.start, range.end + 1) : bytes;
      return part === undefined
        ? null
        : (async function* () {
            yield part;
          })();
    },
    async whole(hash) {
      const bytes = kept.get(hash);
      return bytes ? Buffer.from(bytes) : null;
    },
    async localCopy(hash) {
      const path = `copy-${(count += 1)}`;
      loose.add(path);
      return kept.has(hash) ? { path, release: () => drop(path) } : null;
    },
    readThrough: async () => undefined,
    remove: async (hash) => void kept.delete(hash),
    list: async (prefix) => [...kept].filter(([hash]) => hash.startsWith(prefix)).map(([hash, bytes]) => ({ hash, size: bytes.length })),
  };
  return {
    loose,
    lose: (hash) => void kept.delete(hash),
    files: createFileStore({
      rows: new FakeFileRows(),
      blobs,
      baseUrl: input.baseUrl,
      isComplete: true,
      chance: { hex: input.hex },
      now: input.now,
    }),
    taken(text, about = {}) {
      const [path, bytes] = [`taken-${(count += 1)}`, Buffer.from(text)];
      disk.set(path, bytes);
      loose.add(path);
      const hash = createHash('sha256').update(bytes).digest('hex');
      return { path, size: bytes.length, hash, mimetype: 'image/png', filename: '', discard: () => drop(path), ...about };
    },
  };
};
