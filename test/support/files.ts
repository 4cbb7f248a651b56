/** Opens a store of files on a real database, and creates files for the store. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { FileStore, KeptFile, TakenFile } from '#actors/ports.ts';
import { type BlobStore, openFolderBlobs, openTemporaryFolder, removeFile, type TemporaryFolder } from '#src/files/blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';
import type { Storage } from '#src/storage/open.ts';

export const baseUrl = 'https://gateway.example';

/** Creates a folder that is removed after the tests of the file. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-files-'));
  after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Returns a temporary file with these bytes, ready for the store. */
export const taken = async (temporary: TemporaryFolder, bytes: Uint8Array, about: Partial<TakenFile> = {}): Promise<TakenFile> => {
  const path = temporary.newPath();
  await writeFile(path, bytes);
  const hash = createHash('sha256').update(bytes).digest('hex');
  return { path, size: bytes.length, hash, mimetype: 'image/png', filename: '', discard: () => removeFile(path), ...about };
};

/** Returns the bytes of a stored file, or null if the file is removed. */
export const bytesOf = async (files: FileStore, file: KeptFile, range?: { start: number; end: number }): Promise<Buffer | null> => {
  const stream = await files.read(file, range);
  return stream === null ? null : Buffer.concat(await Array.fromAsync(stream));
};

/** Returns the names of all files below a folder. */
export const below = async (folder: string): Promise<readonly string[]> => {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile()).map(({ name }) => name);
};

export interface TestFiles {
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly temporary: TemporaryFolder;
  readonly folder: string;
  /** The clock of the store in Unix milliseconds. Tests may change it. */
  readonly clock: { now: number };
}

export const openTestFiles = async (storage: Pick<Storage, 'fileRows'>, folder?: string, isComplete = true): Promise<TestFiles> => {
  const place = folder ?? (await temporaryFolder());
  const temporary = await openTemporaryFolder(join(place, 'temporary'));
  const blobs = await openFolderBlobs(join(place, 'files'), temporary);
  const clock = { now: 1_000_000 };
  const chance = { hex: (count: number) => randomBytes(count).toString('hex') };
  const files = createFileStore({ rows: storage.fileRows, blobs, baseUrl, isComplete, chance, now: () => clock.now });
  return { files, blobs, temporary, folder: place, clock };
};
