/**
 * The stored files of instances. A row has the instance and the public name of a file. A blob has the bytes, once for each hash. A blob is stored before
 * its row, and a row is removed before its blob. A kill in between leaves a blob without a row, and never the reverse. A mutex for each prefix of a hash
 * keeps the last row of a blob from being removed while another instance adds a row for the same bytes. Nodes of a cluster share the rows and the bucket.
 * Without a bucket they share only the rows, and each node has its own folder. The next audit of a node removes bytes whose rows another node removed.
 */
import { KeyedMutex } from '#actors/waiting.ts';
import {
  type Blob,
  type ByteRange,
  type Chance,
  type FileAbout,
  type FileKey,
  type FileRow,
  type FileRows,
  type FileStore,
  FilesUnavailable,
  type KeptFile,
  type LocalCopy,
  type TakenFile,
} from '#actors/ports.ts';
import { type BlobStore, prefixes } from './blobs.ts';

// Public names of files.

/** File extensions by MIME type. Players and browsers recognise a file by its extension. */
const endings: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/3gpp': '3gp',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/mp4': 'm4a',
  'application/pdf': 'pdf',
};

/** Turns `audio/ogg; codecs=opus` into `audio/ogg`. */
export const essence = (mimetype: string): string => (mimetype.split(';', 1)[0] ?? '').trim().toLowerCase();

/** The number of random bytes in a name. A name with 128 random bits cannot be guessed. */
const randomness = 16;

/** Returns an unguessable name, with an extension if the type of the file is known. */
const newName = (hex: (bytes: number) => string, { mimetype, filename }: { mimetype: string; filename: string }): string => {
  const [, given = ''] = /\.([a-z0-9]{1,8})$/i.exec(filename) ?? [];
  const ending = endings[essence(mimetype)] ?? given.toLowerCase();
  return `${hex(randomness)}${ending === '' ? '' : `.${ending}`}`;
};

/** Returns true if a text may be the name of a file. Other texts are not looked up. */
const isName = (text: string): boolean => /^[0-9a-f]{32}(?:\.[a-z0-9]{1,8})?$/.test(text);

interface FileStoreInput {
  readonly rows: FileRows;
  readonly blobs: BlobStore;
  /** The public address of the gateway, as integrators see it. */
  readonly baseUrl: string;
  /** True if this store has the blobs of all rows. False on a node without a bucket: a missing blob may be on another node. */
  readonly isComplete: boolean;
  readonly chance: Pick<Chance, 'hex'>;
  now(): number;
}

/** The precision of the stored time of the last use. A use is stored only if the stored time is older than this. In milliseconds. */
const useGrain = 3_600_000;

/** The largest number of rows that one statement removes. */
const pieceRows = 200;

const prefixOf = (hash: string): string => hash.slice(0, 2);

class Files implements FileStore {
  readonly parts = prefixes.length;
  readonly #input: FileStoreInput;
  readonly #mutex = new KeyedMutex();
  /** The total size of the blobs of each prefix, in bytes. A prefix that was not listed yet is missing. */
  readonly #bytes = new Map<string, number>();

  constructor(input: FileStoreInput) {
    this.#input = input;
  }

  async keep(instance: string, file: TakenFile, about: FileAbout = {}): Promise<KeptFile | null> {
    const { rows, blobs, chance, now } = this.#input;
    const { hash, size } = file;
    const mimetype = about.mimetype || file.mimetype;
    const filename = about.filename || file.filename;
    const { messageId = '', madeOf = '' } = about;
    const [name, created] = [newName((bytes) => chance.hex(bytes), { mimetype, filename }), now()];
    const row = { name, instanceId: instance, hash, size, mimetype, filename, messageId, madeOf, created, used: created };
    try {
      return await this.#mutex.run(prefixOf(hash), async () => {
        const stored = await blobs.size(hash);
        if (stored !== size) {
          await blobs.put(hash, file.path);
          file.moved?.();
        }
        this.#count(hash, size - (stored ?? 0));
        const kept = await rows.add(row);
        if (kept === null) await this.#removeUnkept({ hash, size });
        else await this.#verify(kept);
        return kept && this.#shown(kept);
      });
    } finally {
      await file.discard();
    }
  }

  async find(instance: string, key: FileKey): Promise<KeptFile | null> {
    return this.#checked(await this.#input.rows.find(instance, key));
  }

  async named(name: string): Promise<KeptFile | null> {
    return isName(name) ? this.#checked(await this.#input.rows.named(name)) : null;
  }

  async holder(name: string): Promise<string | null> {
    return isName(name) ? ((await this.#input.rows.named(name))?.instanceId ?? null) : null;
  }

  async read(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    return this.#input.blobs.read(file.hash, range);
  }

  async whole(file: KeptFile): Promise<Uint8Array | null> {
    return this.#input.blobs.whole(file.hash);
  }

  async localCopy(file: KeptFile): Promise<LocalCopy | null> {
    return this.#input.blobs.localCopy(file.hash);
  }

  async readThrough(file: KeptFile): Promise<void> {
    return this.#input.blobs.readThrough(file.hash);
  }

  get bytes(): number | null {
    if (this.#bytes.size < prefixes.length) return null;
    return this.#bytes.values().reduce((sum, bytes) => sum + bytes, 0);
  }

  async removeUnused(before: number, limit: number): Promise<number> {
    return this.#removed(await this.#input.rows.removeUnused(before, limit));
  }

  async removeUnusedHere(before: number, limit: number): Promise<number> {
    const { rows, blobs, isComplete } = this.#input;
    if (isComplete) return this.removeUnused(before, limit);
    const here: string[] = [];
    for (let after = { used: -1, name: '' }; ;) {
      const page = await rows.unused(before, after, pieceRows);
      for (const { name, hash } of page) if (here.length < limit && (await blobs.size(hash)) !== null) here.push(name);
      const last = page.at(-1);
      if (last === undefined || here.length === limit) break;
      after = last;
    }
    return here.length === 0 ? 0 : this.#removed(await rows.removeNamed(here, before));
  }

  async removeOf(instance: string): Promise<number> {
    return this.#removed(await this.#input.rows.removeOf(instance, pieceRows));
  }

  /** Removes blobs without a row, and rows without a blob. If the part has no blob at all, keeps its rows, because the disk may not be mounted. */
  async audit(part: number): Promise<{ readonly blobs: number; readonly rows: number }> {
    const { rows, blobs, isComplete } = this.#input;
    const prefix = prefixes[part] ?? '';
    return this.#mutex.run(prefix, async () => {
      // The rows are read first. Another node may store a file during the list, and its new row must not count as lost.
      const [kept, stored] = [await rows.startingWith(prefix), await blobs.list(prefix)];
      const sizes = new Map(stored.map(({ hash, size }) => [hash, size]));
      const wanted = new Map(kept.map(({ hash, size }) => [hash, size]));
      const orphans = stored.filter(({ hash, size }) => wanted.get(hash) !== size);
      const lost = stored.length === 0 || !isComplete ? [] : kept.filter(({ hash, size }) => sizes.get(hash) !== size);
      for (const { hash } of lost) await rows.removeHash(hash);
      const sum = (all: readonly Blob[]): number => all.reduce((bytes, { size }) => bytes + size, 0);
      this.#bytes.set(prefix, sum(stored));
      let gone = 0;
      for (const orphan of orphans) gone += Number(await this.#removeOrphan(orphan, wanted.has(orphan.hash)));
      return { blobs: gone, rows: lost.length };
    });
  }

  /** Checks that the bytes of a new row still exist. Another node may have removed them before the row was stored. A stored row protects its bytes. */
  async #verify({ hash, size }: FileRow): Promise<void> {
    const { rows, blobs, isComplete } = this.#input;
    if (!isComplete || (await blobs.size(hash)) === size) return;
    await rows.removeHash(hash);
    throw new FilesUnavailable('the bytes of the file were removed while it was being stored: try again');
  }

  /** Returns the file of a row. If the bytes are gone, returns null. A complete store then also removes the row. */
  async #checked(row: FileRow | null): Promise<KeptFile | null> {
    if (row === null) return null;
    const { rows, blobs, isComplete, now } = this.#input;
    const isThere = async (): Promise<boolean> => (await blobs.size(row.hash)) === row.size;
    if (!(await isThere())) {
      if (!isComplete) return null;
      await this.#mutex.run(prefixOf(row.hash), async () => {
        if (!(await isThere())) await rows.removeHash(row.hash);
      });
      return null;
    }
    if (now() - row.used > useGrain) await rows.touch(row.name, now());
    return this.#shown(row);
  }

  /** Removes a blob that has the wrong size or no row. A blob without a row is kept if another node has just added a row. */
  async #removeOrphan(orphan: Blob, isBroken: boolean): Promise<boolean> {
    const { rows, blobs } = this.#input;
    const remove = (): Promise<void> => blobs.remove(orphan.hash);
    if (isBroken) await remove();
    else if (!(await rows.whileUnkept(orphan.hash, remove))) return false;
    this.#count(orphan.hash, -orphan.size);
    return true;
  }

  async #removed(gone: readonly Blob[]): Promise<number> {
    for (const blob of gone) await this.#mutex.run(prefixOf(blob.hash), () => this.#removeUnkept(blob));
    return gone.length;
  }

  /** Removes a blob unless it has a row. Call this only inside the mutex of the hash. */
  async #removeUnkept({ hash, size }: Blob): Promise<void> {
    const { rows, blobs } = this.#input;
    if (await rows.whileUnkept(hash, () => blobs.remove(hash))) this.#count(hash, -size);
  }

  #count(hash: string, bytes: number): void {
    const known = this.#bytes.get(prefixOf(hash));
    if (known !== undefined) this.#bytes.set(prefixOf(hash), known + bytes);
  }

  #shown({ name, hash, size, mimetype, filename }: FileRow): KeptFile {
    return { name, url: `${this.#input.baseUrl}/files/${name}`, hash, size, mimetype, filename };
  }
}

export const createFileStore = (input: FileStoreInput): FileStore => new Files(input);
