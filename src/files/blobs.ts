/** The interface of a blob store, its implementation in a folder, and the folder of temporary files. */
import { createHash, randomInt, randomUUID } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Blob, type ByteRange, FilesUnavailable, FileUnreadable, type LocalCopy } from '#actors/ports.ts';

// The folder of temporary files. The next start removes files that a crash left.

export interface TemporaryFolder {
  /** The absolute path of the folder. It is on the disk of the data folder, so a rename moves a file into the store. */
  readonly path: string;
  /** Returns an unused path. The writer of the file must remove it. */
  newPath(): string;
  /** Removes all files. Call this at the end of the process, after all writers have ended. */
  empty(): Promise<void>;
}

/** Creates the folder if it is missing, and removes the files of a former process. */
export const openTemporaryFolder = async (path: string): Promise<TemporaryFolder> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const empty = async (): Promise<void> => {
    for (const name of await readdir(path)) await rm(join(path, name), { recursive: true, force: true });
  };
  await empty();
  return { path, empty, newPath: () => join(path, randomUUID()) };
};

/** Removes a temporary file, unless it is gone or moved. Never rejects. If the removal fails, the next start removes the file. */
export const removeFile = (path: string): Promise<void> => unlink(path).catch(() => undefined);

/** Errors of a disk that is full (`ENOSPC`, `EDQUOT`) or fails (`EIO`). An error of a thread has the code only in its message. */
const diskFailure = /^(?:ENOSPC|EDQUOT|EIO)\b/;

/** Returns true for an error, also one of `onTemporaryDisk`, that says that a disk is full. */
export const lacksRoom = (error: unknown): boolean => /\b(?:ENOSPC|EDQUOT)\b/.test(String(error));

/** Writes temporary files. Rejects with `FilesUnavailable` if the disk is full or fails, and otherwise with the error of the work. */
export const onTemporaryDisk = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const code = error instanceof Error ? diskFailure.exec(error.message)?.[0] : undefined;
    if (code === undefined) throw error;
    throw new FilesUnavailable(`the disk of temporary files does not work (${code})`, { cause: error });
  }
};

// The interface of a blob store. A store keeps each blob once, under the hash of its bytes.

/** All values of the first two digits of a hash. `BlobStore.list` takes one of them. */
export const prefixes: readonly string[] = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));

/** Returns true if a name has the pattern of blobs. Files with other names are not blobs. */
export const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

export const byHash = (a: Blob, b: Blob): number => (a.hash < b.hash ? -1 : 1);

/**
 * A store of blobs. Its methods reject with `FilesUnavailable` if the store does not answer or has no room. Methods that read one blob reject with
 * `FileUnreadable` if only this blob cannot be read.
 */
export interface BlobStore {
  /** Returns the size of a blob in bytes; null if the blob does not exist. */
  size(hash: string): Promise<number | null>;
  /** Stores the file at `path` atomically. Afterwards the file belongs to the store. */
  put(hash: string, path: string): Promise<void>;
  /** Opens a blob for reading. Returns null if the blob does not exist. */
  read(hash: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** Reads the whole blob into a buffer that belongs to the caller. Returns null if the blob does not exist. */
  whole(hash: string): Promise<Uint8Array | null>;
  localCopy(hash: string): Promise<LocalCopy | null>;
  /** Reads the blob to its end. Does nothing if a local copy does not share the bytes of the store. */
  readThrough(hash: string): Promise<void>;
  /** Idempotent. */
  remove(hash: string): Promise<void>;
  /** Returns the blobs whose hash begins with `prefix` (one of `prefixes`), in the order of their hashes. */
  list(prefix: string): Promise<readonly Blob[]>;
}

/** Returns the SHA-256 of a file in hex, which is the name of its blob. */
export const hashFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece);
  return hash.digest('hex');
};

// Blobs in a folder of this machine. Their paths are `ab/abcd…`, so that no folder gets too many files.

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code);

/** `instead`: the outcome if the file does not exist. */
const orAbsent = async <T>(work: Promise<T>, instead: T): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return instead;
    throw new FilesUnavailable(`the folder of files does not work (${codeOf(error)})`, { cause: error });
  }
};

/** Errors of a damaged or protected file. Another code concerns the whole folder. */
const fileFailures: ReadonlySet<string> = new Set(['EIO', 'EACCES', 'EPERM', 'EBADMSG', 'EUCLEAN']);

/**
 * Returns true if the folder works: the subfolder of the blob can be listed, and another blob can be read. The other blob is of a random subfolder, so that
 * each try reads another part of the disk, which the cache of the system rarely holds. Returns false if there is no other blob.
 */
const worksWithout = async (folder: string, hash: string): Promise<boolean> => {
  await readdir(join(folder, hash.slice(0, 2)));
  const first = randomInt(prefixes.length);
  for (const prefix of [...prefixes.slice(first), ...prefixes.slice(0, first)]) {
    const other = (await readdir(join(folder, prefix))).find((name) => isHash(name) && name !== hash);
    if (other === undefined) continue;
    await using file = await open(join(folder, prefix, other), 'r');
    await file.read(Buffer.alloc(1), 0, 1, 0);
    return true;
  }
  return false;
};

/** Reads one blob. `instead`: the outcome if the blob does not exist. Rejects with `FileUnreadable` if the folder works without this blob. */
const readOrAbsent = async <T>(folder: string, hash: string, work: Promise<T>, instead: T): Promise<T> =>
  orAbsent(work, instead).catch(async (error: FilesUnavailable) => {
    const code = codeOf(error.cause);
    if (!fileFailures.has(code) || !(await worksWithout(folder, hash).catch(() => false))) throw error;
    throw new FileUnreadable(hash, `the stored file ${hash} cannot be read (${code})`, { cause: error.cause });
  });

/** Writes the bytes through to the disk. This happens before the blob gets its name, so that a power cut leaves no damaged blob. */
const flush = async (path: string): Promise<void> => {
  await using file = await open(path, constants.O_RDWR);
  await file.sync();
};

/** Makes a hard link to the blob, which keeps the bytes if the blob is removed meanwhile. On a file system without hard links, copies the blob. */
const lend = (blob: string, path: string): Promise<void> => link(blob, path).catch(() => copyFile(blob, path, constants.COPYFILE_FICLONE));

export const openFolderBlobs = async (folder: string, temporary: TemporaryFolder): Promise<BlobStore> => {
  const pathOf = (hash: string): string => join(folder, hash.slice(0, 2), hash);
  const sizeOf = async (hash: string): Promise<number | null> => {
    const facts = await orAbsent(stat(pathOf(hash)), null);
    return facts === null ? null : facts.size;
  };
  for (const prefix of prefixes) await mkdir(join(folder, prefix), { recursive: true, mode: 0o700 });
  return {
    size: sizeOf,
    async put(hash, path) {
      const target = pathOf(hash);
      const store = async (): Promise<void> => {
        await flush(path);
        await rename(path, target).catch(async (error: unknown) => {
          if (codeOf(error) !== 'EXDEV') throw error;
          const near = join(dirname(target), `.${hash}`);
          await copyFile(path, near);
          await flush(near);
          await rename(near, target);
          await rm(path, { force: true });
        });
      };
      await store().catch((error: unknown) => {
        throw new FilesUnavailable(`the file could not be stored (${codeOf(error)})`, { cause: error });
      });
    },
    async read(hash, range) {
      // The blob is opened before the caller gets a stream, so that a missing blob is a null and not an error in the middle of the stream.
      const file = await readOrAbsent(folder, hash, open(pathOf(hash), 'r'), null);
      return file === null ? null : createReadStream('', { fd: file, autoClose: true, ...range });
    },
    whole: (hash) => readOrAbsent<Uint8Array | null>(folder, hash, readFile(pathOf(hash)), null),
    async localCopy(hash) {
      const path = temporary.newPath();
      const lent = await readOrAbsent(
        folder,
        hash,
        lend(pathOf(hash), path).then(() => true),
        false,
      );
      return lent ? { path, release: () => removeFile(path) } : null;
    },
    async readThrough(hash) {
      await readOrAbsent<string | null>(folder, hash, hashFile(pathOf(hash)), null);
    },
    remove: (hash) => orAbsent(rm(pathOf(hash)), undefined),
    async list(prefix) {
      const names = await orAbsent(readdir(join(folder, prefix)), []);
      const found = await Promise.all(
        names.map(async (name) => {
          // A file with another name than a hash is a copy that a kill interrupted.
          if (!isHash(name)) await rm(join(folder, prefix, name), { force: true });
          return isHash(name) ? { hash: name, size: await sizeOf(name) } : { hash: name, size: null };
        }),
      );
      return found.flatMap(({ hash, size }) => (size === null ? [] : [{ hash, size }])).toSorted(byHash);
    },
  };
};
