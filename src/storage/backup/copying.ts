/**
 * Copies files that may change during the copy, and lists their hashes. Also checks the folders that an operator names for a backup or a restore.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, open, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { makeFolder } from '#src/base/make-folder.ts';

// Copies of files that may change during the copy. A list of the copied files lets an interrupted copy continue.

/** A file below the copied folder. */
export interface Entry {
  /** The path below the folder, with `/` between folders. */
  readonly path: string;
  /** The size of the file. In bytes. */
  readonly size: number;
  /** SHA-256 in hex. */
  readonly hash: string;
}

/** The state of a source file when it was copied. */
interface Known extends Entry {
  /** The time of the last change, in nanoseconds as text. */
  readonly changed: string;
  /** True if the last change was older than `settledNs` at the time of the copy. A later change then always has a different modification time. */
  readonly settled: boolean;
}

export interface Progress {
  readonly files: number;
  readonly ofFiles: number;
  /** The number of bytes that this run or an earlier run copied. */
  readonly bytes: number;
  readonly ofBytes: number;
}

interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The size of one read. A small file gets a smaller buffer, because allocating a megabyte for each file took most of the time of a backup. In bytes. */
const pieceBytes = 1_048_576;
const leastBytes = 16_384;
/** The coarsest resolution of file times: 2 s on old file systems. On Linux it is some milliseconds. In nanoseconds. */
const settledNs = 2_000_000_000n;

const orNull = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** Copies a file, flushes it to the disk, and returns the size and the hash of the copied bytes. Returns null if the source does not exist. */
export const copyFile = async (from: string, to: string, signal?: AbortSignal): Promise<Omit<Entry, 'path'> | null> => {
  const source = await orNull(open(from, 'r'));
  if (source === null) return null;
  await using _source = source;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await using target = await open(to, 'w', 0o600);
  // The loop reads until the end, so a file may grow meanwhile.
  const most = Math.min(pieceBytes, Math.max(leastBytes, (await source.stat()).size));
  const [hash, buffer] = [createHash('sha256'), Buffer.allocUnsafe(most)];
  let size = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, most, size);
    if (bytesRead === 0) break;
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await target.writev([piece]);
    size += bytesRead;
  }
  await target.datasync();
  return { size, hash: hash.digest('hex') };
};

/** Returns the SHA-256 of a file in hex. */
export const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece);
  return hash.digest('hex');
};

/**
 * Returns the paths of files, folders and symbolic links below `root` for which `keep` is true. A link that `followed` names counts as its target, if the
 * target exists. Sockets are left out.
 */
export const walk = async (root: string, keep: (path: string) => boolean, followed: readonly string[] = []) => {
  const [files, folders, links]: [string[], string[], string[]] = [[], [], []];
  const look = async (path: string): Promise<void> => {
    for (const entry of (await orNull(readdir(join(root, path), { withFileTypes: true }))) ?? []) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (!keep(below)) continue;
      const isFollowed = entry.isSymbolicLink() && followed.includes(below);
      const facts = (isFollowed ? await orNull(stat(join(root, below))) : null) ?? entry;
      if (facts.isSymbolicLink()) links.push(below);
      if (facts.isFile()) files.push(below);
      if (!facts.isDirectory()) continue;
      folders.push(below);
      await look(below);
    }
  };
  await look('');
  return { files: files.toSorted(), folders: folders.toSorted(), links: links.toSorted() };
};

/** Returns the sum of the sizes of these files. A removed file counts 0. */
export const sizeOf = async (root: string, files: readonly string[]): Promise<number> => {
  let sum = 0;
  for (const path of files) sum += (await orNull(stat(join(root, path))))?.size ?? 0;
  return sum;
};

const entryIn = (line: string): Known | null => {
  try {
    return JSON.parse(line) as Known;
  } catch {
    return null;
  }
};

/** Opens the list of copied files that an interrupted run left, with one line of JSON for each file. A missing list is made. */
const openList = async (file: string): Promise<Map<string, Known>> => {
  const text = (await orNull(readFile(file, 'utf8'))) ?? '';
  // A kill or a full disk may have truncated the last line. The next line must not be appended to this line.
  await appendFile(file, text === '' || text.endsWith('\n') ? '' : '\n', { mode: 0o600 });
  const entries = text.split('\n').map(entryIn);
  return new Map(entries.filter((entry) => entry !== null).map((entry) => [entry.path, entry]));
};

/** A copy of one folder, with a list of the copied files. */
export class FolderCopy {
  readonly #from: string;
  readonly #to: string;
  readonly #list: string;
  readonly #known: Map<string, Known>;
  readonly #done = new Map<string, Entry>();

  private constructor(from: string, to: string, list: string, known: Map<string, Known>) {
    this.#from = from;
    this.#to = to;
    this.#list = list;
    this.#known = known;
  }

  /**
   * Opens a copy. `list`: the file with the list of copied files, which lets an interrupted copy continue. The list is made before the folder `to`, because a
   * backup refuses a folder that has files but no list.
   */
  static async open(from: string, to: string, list: string): Promise<FolderCopy> {
    const known = await openList(list);
    await mkdir(to, { recursive: true, mode: 0o700 });
    return new FolderCopy(from, to, list, known);
  }

  /** All copied files, sorted by path. */
  get entries(): readonly Entry[] {
    return [...this.#done.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Returns true if the copy has this file. */
  has(path: string): boolean {
    return this.#done.has(path);
  }

  async folders(paths: readonly string[]): Promise<void> {
    for (const path of paths) await mkdir(join(this.#to, path), { recursive: true, mode: 0o700 });
  }

  /** Copies files. A file that an earlier run copied is copied again only if it has changed. */
  async files(paths: readonly string[], { signal, onProgress }: CopyOptions = {}): Promise<void> {
    const ofBytes = await sizeOf(this.#from, paths);
    let [files, bytes] = [0, 0];
    for (const path of paths) {
      signal?.throwIfAborted();
      bytes += await this.#file(path, signal);
      files += 1;
      onProgress?.({ files, ofFiles: paths.length, bytes, ofBytes: Math.max(bytes, ofBytes) });
    }
  }

  /** Adds a file that the function `copy` writes. */
  async add(path: string, copy: (to: string) => Promise<Omit<Entry, 'path'>>): Promise<void> {
    this.#done.set(path, { path, ...(await copy(join(this.#to, path))) });
  }

  /** Removes files of an earlier run that the source no longer has. */
  async removeOthers(): Promise<void> {
    const { files } = await walk(this.#to, () => true);
    for (const path of files) if (!this.#done.has(path)) await rm(join(this.#to, path), { force: true });
  }

  async #file(path: string, signal: AbortSignal | undefined): Promise<number> {
    const [from, to] = [join(this.#from, path), join(this.#to, path)];
    const now = BigInt(Date.now()) * 1_000_000n;
    const facts = await orNull(stat(from, { bigint: true }));
    if (facts === null) return 0;
    const changed = String(facts.mtimeNs);
    const known = this.#known.get(path);
    const isSame = known?.settled === true && known.changed === changed && known.size === Number(facts.size);
    if (isSame && (await orNull(stat(to)))?.size === known.size) {
      this.#done.set(path, { path, size: known.size, hash: known.hash });
      return known.size;
    }
    const copied = await copyFile(from, to, signal);
    if (copied === null) return 0;
    const entry: Entry = { path, ...copied };
    this.#done.set(path, entry);
    await appendFile(this.#list, `${JSON.stringify({ ...entry, changed, settled: now - facts.mtimeNs > settledNs } satisfies Known)}\n`, {
      mode: 0o600,
    });
    return copied.size;
  }
}

// Folders that an operator names for a backup or a restore.

/** Returns true if `path` is the folder or is inside the folder. */
export const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | null)?.code ?? error);

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'a file has this name',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'this file system takes no folders',
  ENAMETOOLONG: 'the path is too long',
  ENOSPC: 'the disk is full',
};

/** Makes a folder and its parents, with mode 0700. Throws an error with a text for the operator. */
export const makeTargetFolder = (path: string): void => {
  try {
    makeFolder(path);
  } catch (error) {
    throw new Error(`${path} cannot be made: ${reasons[codeOf(error)] ?? codeOf(error)}. Name another folder with --to.`, { cause: error });
  }
};

/** Returns the path with resolved symbolic links. Only the existing part of the path can be resolved. */
export const resolvedPath = async (path: string): Promise<string> =>
  realpath(path).catch(async () => (dirname(path) === path ? path : join(await resolvedPath(dirname(path)), basename(path))));
