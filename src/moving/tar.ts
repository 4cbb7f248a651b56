/** Unpacks a tar archive into a folder: files and folders alone, and none outside of it. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Pieces } from './pieces.ts';
import { SourceFault } from './session.ts';

const block = 512;
const mostEntries = 500_000;
const longestName = 4_096;

const textIn = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0);
  return Buffer.from(bytes.subarray(0, end === -1 ? bytes.length : end)).toString('utf8');
};

const broken = new SourceFault('The tar archive is cut off or damaged');

/** Octal text, or 64 bits of a large number behind a mark. */
const sizeIn = (header: Buffer): number => {
  if ((header[124] ?? 0) & 0x80) return Number(header.readBigUInt64BE(128));
  return Number.parseInt(textIn(header.subarray(124, 136)).trim() || '0', 8);
};

const nameIn = (header: Buffer): string => {
  const [name, prefix] = [textIn(header.subarray(0, 100)), textIn(header.subarray(345, 500))];
  return prefix === '' || !textIn(header.subarray(257, 263)).startsWith('ustar') ? name : `${prefix}/${name}`;
};

/** The path in a pax header: records of `length key=value`. */
const paxPath = (text: string): string => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1] ?? '';

/** Path inside the folder; null for what points outside. */
const safePath = (folder: string, name: string): string | null => {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') || name.includes('\0') ? null : join(folder, ...parts);
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
  if (size > longestName * 4) throw broken;
  const parts: Buffer[] = [];
  for await (const part of bodyOf(pieces, size)) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
};

const unpackAll = async (pieces: Pieces, folder: string): Promise<void> => {
  let longName = '';
  for (let entries = 0; ; entries += 1) {
    const header = await pieces.take(block);
    // Empty blocks mark the end.
    if (header === null) throw broken;
    if (header.every((byte) => byte === 0)) return;
    if (entries > mostEntries) throw new SourceFault(`The tar archive has more than ${mostEntries} files`);
    const size = sizeIn(header);
    if (!Number.isSafeInteger(size) || size < 0) throw broken;
    const kind = String.fromCharCode(header[156] ?? 0);
    const path = safePath(folder, longName === '' ? nameIn(header) : longName);
    if (kind === 'L') longName = textIn(Buffer.from(await smallBody(pieces, size)));
    else if (kind === 'x') longName = paxPath(await smallBody(pieces, size));
    else {
      longName = '';
      if (kind === '5' && path !== null) await mkdir(path, { recursive: true, mode: 0o700 });
      if ((kind === '0' || kind === '\0') && path !== null) {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await pipeline(Readable.from(bodyOf(pieces, size)), createWriteStream(path, { mode: 0o600 }));
      } else for await (const _ of bodyOf(pieces, size));
    }
    const rest = size % block;
    if (rest > 0 && (await pieces.take(block - rest)) === null) throw broken;
  }
};

/** Unpacks the file. Throws `SourceFault` for what is no whole tar archive. */
export const unpackTar = async (file: string, folder: string): Promise<void> => {
  const pieces = new Pieces(createReadStream(file));
  try {
    await unpackAll(pieces, folder);
  } finally {
    pieces.close();
  }
};
