/**
 * Prepares an upload for its reader: finds its format, and unpacks it into a folder. Only files and folders inside the folder are unpacked.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Pieces } from './archive.ts';
import { type Reader, SourceFault } from './session.ts';

// Unpacks a tar archive into a folder. Only files and folders inside that folder are created.

const block = 512;
/** Largest number of entries in an archive. A large account of the bare library has 30,000 files, and unpacking a file needs about half a millisecond. */
const mostEntries = 60_000;
/** Largest lengths of a whole name, and of one part of the name. File systems allow 255 bytes for a part. In bytes. */
const [longestName, longestPart] = [2_048, 255];
/** The largest number of folders inside each other. The store of a gateway has four levels. Further levels are room for the path of a container's volume. */
const deepest = 32;
/** Largest size of an extended header. In bytes. */
const longestExtension = 16_384;

const textIn = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0);
  return Buffer.from(bytes.subarray(0, end === -1 ? bytes.length : end)).toString('utf8');
};

const broken = new SourceFault('The tar archive is cut off or damaged');

/** Reads the size of an entry: octal text, or a 64-bit number if the first bit is set. */
const sizeIn = (header: Buffer): number => {
  if ((header[124] ?? 0) & 0x80) return Number(header.readBigUInt64BE(128));
  return Number.parseInt(textIn(header.subarray(124, 136)).trim() || '0', 8);
};

const nameIn = (header: Buffer): string => {
  const [name, prefix] = [textIn(header.subarray(0, 100)), textIn(header.subarray(345, 500))];
  return prefix === '' || !textIn(header.subarray(257, 263)).startsWith('ustar') ? name : `${prefix}/${name}`;
};

/** Reads the path from a pax header, which has records of `length key=value`. */
const paxPath = (text: string): string => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1] ?? '';

/** Returns the beginning of a name without control characters, for an error text. */
const shown = (name: string): string => {
  const plain = name.replaceAll(/\p{C}/gu, '?');
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
};

/** Returns the path inside the folder, or null for a name that points outside. Throws `SourceFault` for a name that is too long or too deep. */
const safePath = (folder: string, name: string): string | null => {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..') || name.includes('\0')) return null;
  if (parts.length > deepest) throw new SourceFault(`The tar archive has more than ${deepest} folders inside each other: ${shown(name)}`);
  if (Buffer.byteLength(name) > longestName || parts.some((part) => Buffer.byteLength(part) > longestPart))
    throw new SourceFault(`The tar archive has a name that is too long for a file: ${shown(name)}`);
  return join(folder, ...parts);
};

/** Errors of the file system that names in an archive can cause. Other errors are faults of the machine. */
const nameFaults: Readonly<Record<string, string>> = {
  ENAMETOOLONG: 'a name that is too long for a file',
  EISDIR: 'a file and a folder of one name',
  ENOTDIR: 'a file and a folder of one name',
  EEXIST: 'a file and a folder of one name',
  EILSEQ: 'a name that this file system does not allow',
  EINVAL: 'a name that this file system does not allow',
  EMLINK: 'too many folders in one folder',
  EFBIG: 'a file that is too large for this file system',
};

/** Runs the work for an entry. Throws `SourceFault` in place of an error that the archive caused. */
const placing = async (name: string, work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    const fault = nameFaults[String((error as NodeJS.ErrnoException | null)?.code)];
    throw fault === undefined ? error : new SourceFault(`The tar archive has ${fault}: ${shown(name)}`);
  }
};

async function* bodyOf(pieces: Pieces, size: number): AsyncIterable<Buffer> {
  for (let left = size; left > 0;) {
    const piece = await pieces.take(Math.min(left, 64 * 1024));
    if (piece === null) throw broken;
    left -= piece.length;
    yield piece;
  }
}

const smallBody = async (pieces: Pieces, size: number): Promise<string> => {
  if (size > longestExtension) throw broken;
  const parts: Buffer[] = [];
  for await (const part of bodyOf(pieces, size)) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
};

/** Makes a file or a folder. Other kinds of entries, such as links, are skipped. */
const placeEntry = async (pieces: Pieces, folder: string, entry: { kind: string; name: string; size: number }): Promise<void> => {
  const { kind, name, size } = entry;
  const isFile = kind === '0' || kind === '\0';
  const path = isFile || kind === '5' ? safePath(folder, name) : null;
  if (path !== null)
    await placing(name, async () => {
      await mkdir(isFile ? dirname(path) : path, { recursive: true, mode: 0o700 });
      if (isFile) await pipeline(Readable.from(bodyOf(pieces, size)), createWriteStream(path, { mode: 0o600 }));
    });
  if (path === null || !isFile) for await (const _ of bodyOf(pieces, size));
};

const unpackAll = async (pieces: Pieces, folder: string, signal: AbortSignal): Promise<void> => {
  let longName = '';
  for (let entries = 0; ; entries += 1) {
    signal.throwIfAborted();
    const header = await pieces.take(block);
    // Empty blocks mark the end.
    if (header === null) throw broken;
    if (header.every((byte) => byte === 0)) return;
    if (entries > mostEntries)
      throw new SourceFault(
        `The tar archive has more than ${mostEntries} files and folders: upload fewer sessions at once, or use npm run import`,
      );
    const size = sizeIn(header);
    if (!Number.isSafeInteger(size) || size < 0) throw broken;
    const kind = String.fromCharCode(header[156] ?? 0);
    if (kind === 'L') longName = textIn(Buffer.from(await smallBody(pieces, size)));
    else if (kind === 'x') longName = paxPath(await smallBody(pieces, size));
    else {
      const name = longName === '' ? nameIn(header) : longName;
      longName = '';
      await placeEntry(pieces, folder, { kind, name, size });
    }
    const rest = size % block;
    if (rest > 0 && (await pieces.take(block - rest)) === null) throw broken;
  }
};

/** Unpacks the file. Throws `SourceFault` for an incomplete archive, and for names that no file can have. */
const unpackTar = async (file: string, folder: string, signal: AbortSignal): Promise<void> => {
  const pieces = new Pieces(createReadStream(file));
  try {
    await unpackAll(pieces, folder, signal);
  } finally {
    pieces.close();
  }
};

// Finds the format of an upload, and unpacks it for its reader.

export class TooLarge extends Error {}

/** Passes bytes on. Fails with `TooLarge` after more than `most` bytes. */
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

/** Returns the innermost folder that is not just a wrapper. Some archives also contain the folders around a store. */
const innermost = async (folder: string): Promise<string> => {
  const [only, ...others] = await readdir(folder, { withFileTypes: true });
  if (only === undefined || others.length > 0 || !only.isDirectory()) return folder;
  const inner = join(folder, only.name);
  const isAround = (await readdir(inner, { withFileTypes: true })).every((entry) => entry.isDirectory());
  return isAround ? innermost(inner) : folder;
};

/** Throws `SourceFault` if the upload has a form that this reader cannot read. */
const checkKind = (head: Buffer, from: string, { upload }: Reader): void => {
  const fault = (is: string): SourceFault => new SourceFault(`The upload is ${is}: from=${from} takes ${upload.takes}`);
  if (head.length === 0) throw fault('empty');
  if (isTar(head) && upload.kind === 'file') throw fault('a tar archive');
  const other = otherArchives.find(([begin]) => head.toString('latin1').startsWith(begin));
  if (other !== undefined)
    throw new SourceFault(`The upload is ${other[1]}: only tar archives are unpacked, plain or compressed with gzip`);
  if (!isTar(head) && upload.kind === 'folder') throw fault('one file');
};

interface UploadFacts {
  /** The folder of the upload. It contains the received file under the name `sent`. */
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
