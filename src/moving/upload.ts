/** Prepares an upload for its reader: says what it is, and unpacks it. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Reader, SourceFault } from './session.ts';
import { unpackTar } from './tar.ts';

export class TooLarge extends Error {}

/** Passes bytes on, up to a limit. */
export const limited = (most: number): Transform => {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      size += chunk.length;
      if (size > most) next(new TooLarge());
      else next(null, chunk);
    },
  });
};

const headOf = async (path: string): Promise<Buffer> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;
const isTar = (head: Buffer): boolean => head.toString('latin1', 257, 262) === 'ustar';

/** First bytes of archives that are not unpacked. */
const otherArchives: readonly (readonly [string, string])[] = [
  ['PK\u0003\u0004', 'a ZIP archive'],
  ['\u00fd7zXZ\0', 'compressed with xz'],
  ['BZh', 'compressed with bzip2'],
  ['\u0028\u00b5\u002f\u00fd', 'compressed with zstd'],
  ['7z\u00bc\u00af', 'a 7z archive'],
  ['Rar!', 'a RAR archive'],
];

/** The folder that has more than one folder in it: archives are made with the folders around a store, or without. */
const innermost = async (folder: string): Promise<string> => {
  const [only, ...others] = await readdir(folder, { withFileTypes: true });
  if (only === undefined || others.length > 0 || !only.isDirectory()) return folder;
  const inner = join(folder, only.name);
  const isAround = (await readdir(inner, { withFileTypes: true })).every((entry) => entry.isDirectory());
  return isAround ? innermost(inner) : folder;
};

/** Throws `SourceFault` for an upload that cannot be for this reader. */
const checkKind = (head: Buffer, from: string, { upload }: Reader): void => {
  const fault = (is: string): SourceFault => new SourceFault(`The upload is ${is}: from=${from} takes ${upload.takes}`);
  if (head.length === 0) throw fault('empty');
  if (isTar(head) && upload.kind === 'file') throw fault('a tar archive');
  const other = otherArchives.find(([begin]) => head.toString('latin1').startsWith(begin));
  if (other !== undefined)
    throw new SourceFault(`The upload is ${other[1]}: only tar archives are unpacked, plain or compressed with gzip`);
  if (!isTar(head) && upload.kind === 'folder') throw fault('one file');
};

export interface UploadFacts {
  /** The folder of the upload, which holds it as `sent`. */
  readonly folder: string;
  readonly from: string;
  readonly reader: Reader;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Unpacks an upload and returns the path for its reader: the file, or the folder of an archive. Readers name a file by the last part of its path, so
 * the file gets the name that error texts should show. Throws `SourceFault` and `TooLarge`.
 */
export const unpackUpload = async ({ folder, from, reader, maxBytes, signal }: UploadFacts): Promise<string> => {
  const [sent, path] = [`${folder}/sent`, `${folder}/The upload`];
  if (isGzip(await headOf(sent)))
    await pipeline(createReadStream(sent), createGunzip(), limited(maxBytes), createWriteStream(path, { mode: 0o600 }), { signal });
  else await rename(sent, path);
  const head = await headOf(path);
  checkKind(head, from, reader);
  if (!isTar(head)) return path;
  const files = `${folder}/files`;
  await mkdir(files, { mode: 0o700 });
  await unpackTar(path, files, signal);
  return innermost(files);
};
