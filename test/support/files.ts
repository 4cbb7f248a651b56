/** A store of files on a real database, and files to keep in it. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { FileStore, KeptFile, TakenFile } from '#actors/ports.ts';
import type { BlobStore } from '#src/files/blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';
import { openFolderBlobs } from '#src/files/folder-blobs.ts';
import { openTemporary, type TemporaryFolder } from '#src/files/temporary.ts';
import type { Storage } from '#src/storage/open.ts';

export const baseUrl = 'https://gateway.example';

/** Gone after the file's tests. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-files-'));
  after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** A file as whoever fetched it hands it over. */
export const taken = async (temporary: TemporaryFolder, bytes: Uint8Array, about: Partial<TakenFile> = {}): Promise<TakenFile> => {
  const written = await temporary.write(chunks(bytes), bytes.length);
  return { mimetype: 'image/png', filename: '', ...written, discard: () => temporary.discard(written.path), ...about };
};

/** All bytes of a kept file; null when they are gone. */
export const bytesOf = async (files: FileStore, file: KeptFile, range?: { start: number; end: number }): Promise<Buffer | null> => {
  const stream = await files.read(file, range);
  return stream === null ? null : Buffer.concat(await Array.fromAsync(stream));
};

/** Every file below a folder. */
export const below = async (folder: string): Promise<readonly string[]> => {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile()).map(({ name }) => name);
};

export interface TestFiles {
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly temporary: TemporaryFolder;
  readonly folder: string;
  /** Unix milliseconds, as the store sees it; a test may move it. */
  readonly clock: { now: number };
}

export const openTestFiles = async (storage: Pick<Storage, 'fileRows'>, folder?: string): Promise<TestFiles> => {
  const place = folder ?? (await temporaryFolder());
  const temporary = openTemporary(join(place, 'temporary'));
  const blobs = await openFolderBlobs(join(place, 'files'), temporary);
  const clock = { now: 1_000_000 };
  const chance = { hex: (count: number) => randomBytes(count).toString('hex') };
  const files = createFileStore({ rows: storage.fileRows, blobs, baseUrl, chance, now: () => clock.now });
  return { files, blobs, temporary, folder: place, clock };
};
