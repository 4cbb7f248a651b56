/**
 * Verifies the checksums of the pages of copied tables and indexes, as pg_basebackup does. The algorithm is that of PostgreSQL
 * (`src/include/storage/checksum_impl.h`): 32 parallel FNV-1a sums.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const pageBytes = 8_192;
/** The number of pages in one file of a table. A file has at most 1 GB. */
const pagesOfFile = 131_072;
/** The number of pages of one read: 1 MB. */
const pagesAtOnce = 128;
const prime = 16_777_619;
/** `checksumBaseOffsets` of PostgreSQL. */
const offsets = Uint32Array.of(
  0x5b1f36e9,
  0xb8525960,
  0x02ab50aa,
  0x1de66d2a,
  0x79ff467a,
  0x9bb9f8a3,
  0x217e7cd2,
  0x83e13d2c,
  0xf8d4474f,
  0xe39eb970,
  0x42c6ae16,
  0x993216fa,
  0x7b093b5d,
  0x98daff3c,
  0xf718902a,
  0x0b1c9cdb,
  0xe58f764b,
  0x187636bc,
  0x5d7b3bb1,
  0xe73de7de,
  0x92bec979,
  0xcca6c0b2,
  0x304a0979,
  0x85aa43d4,
  0x783125bb,
  0x6ca8eaa2,
  0xe407eac6,
  0x4b5cfc3e,
  0x9fbf8c76,
  0x15ca20be,
  0xf2ca9fd3,
  0x959bd756,
);

const mixed = (sum: number, word: number): number => {
  const both = sum ^ word;
  return Math.imul(both, prime) ^ (both >>> 17);
};

/** Returns the checksum of a page. The two bytes of the stored checksum count as zero. */
const checksumOf = (page: Buffer, block: number): number => {
  const words = new Uint32Array(page.buffer, page.byteOffset, pageBytes / 4);
  const sums = Uint32Array.from(offsets);
  const lanes = offsets.length;
  for (let at = 0; at < words.length; at += 1) {
    const word = at === 2 ? (words[2] ?? 0) & 0xffff0000 : (words[at] ?? 0);
    sums[at % lanes] = mixed(sums[at % lanes] ?? 0, word);
  }
  let all = 0;
  for (const sum of sums) all ^= mixed(mixed(sum, 0), 0);
  return (((all ^ block) >>> 0) % 65_535) + 1;
};

/** Returns the position of a page's last change in the write-ahead log (its LSN). */
const positionOf = (page: Buffer): bigint => (BigInt(page.readUInt32LE(0)) << 32n) | BigInt(page.readUInt32LE(4));

/** Returns true for a valid checksum, for an unused page (without a checksum), and for a page that a restore takes from the write-ahead log. */
const isSound = (page: Buffer, block: number, began: bigint): boolean =>
  page.readUInt16LE(14) === 0 || page.readUInt16LE(8) === checksumOf(page, block) || positionOf(page) >= began;

/** The pattern of files of tables and indexes in the server's folder. The capture group contains the number of the file within its table. */
const relationFile = /^(?:base\/\d+|global)\/\d+(?:_(?:fsm|vm|init))?(?:\.(\d+))?$/;

/** The number of attempts to read a page that seems damaged, and the pause between them. The server may be writing the page. In milliseconds. */
const [rereads, rereadMs] = [10, 20] as const;

const becomesSound = async (source: string, at: number, block: number, began: bigint): Promise<boolean> => {
  const file = await open(source, 'r').catch(() => null);
  // If the table was dropped or rewritten meanwhile, the replay of the write-ahead log removes its file.
  if (file === null) return true;
  await using _file = file;
  for (let tries = 0; tries < rereads; tries += 1) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(pageBytes), 0, pageBytes, at * pageBytes);
    if (bytesRead < pageBytes || isSound(buffer, block, began)) return true;
    await wait(rereadMs);
  }
  return false;
};

async function* pagesIn(file: FileHandle): AsyncIterable<readonly [Buffer, number]> {
  const { size } = await file.stat();
  // The buffer has room for one page more than the file, so one read suffices for a small file.
  const most = Math.min(pagesAtOnce, Math.ceil(size / pageBytes) + 1);
  const buffer = Buffer.alloc(most * pageBytes);
  for (let first = 0; ; first += most) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, first * pageBytes);
    // An incomplete last page is skipped. The server was adding the page, and the write-ahead log contains it.
    for (let at = 0; (at + 1) * pageBytes <= bytesRead; at += 1)
      yield [buffer.subarray(at * pageBytes, (at + 1) * pageBytes), first + at] as const;
    if (bytesRead < buffer.length) return;
  }
}

export interface PageCheck {
  /** The path in the server's folder. Only files of tables and indexes have pages. */
  readonly path: string;
  readonly copy: string;
  readonly source: string;
  /** The position in the write-ahead log at which the backup began. The log contains each page that has changed since. */
  readonly began: bigint;
  readonly signal?: AbortSignal | undefined;
}

/** Throws an error with a text for the operator if a page is damaged both in the copy and in its source. */
export const checkPages = async ({ path, copy, source, began, signal }: PageCheck): Promise<void> => {
  const [found, number = '0'] = relationFile.exec(path) ?? [];
  if (found === undefined) return;
  await using file = await open(copy, 'r');
  for await (const [page, at] of pagesIn(file)) {
    if (at % pagesAtOnce === 0) signal?.throwIfAborted();
    const block = Number(number) * pagesOfFile + at;
    if (isSound(page, block, began) || (await becomesSound(source, at, block, began))) continue;
    throw new Error(
      `The database is damaged: page ${block} of ${path} is not as it was written, so that no whole backup can be made. Restore an older backup (docs/backup.md).`,
    );
  }
};
