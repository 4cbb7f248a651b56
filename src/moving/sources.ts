/** Uploads with the stores of other gateways, and archives of our own: the port of the gateway to everything in this folder. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { done, refuse, type Result } from '#actors/model.ts';
import { SourceProblem, type Arrival, type LeavingSession, type MovingSources, type UploadedSource } from '#actors/ports.ts';
import { sealLines } from './archive.ts';
import { linesOfLeaving } from './archived.ts';
import { arrivalOf } from './arrival.ts';
import { readers } from './readers.ts';
import { type Reader, SourceFault } from './session.ts';
import { unpackTar } from './tar.ts';

export interface SourcesOptions {
  /** A path on the disk of the data folder where nothing is. */
  newPath(): string;
  /** Bytes of an upload, also after it is unpacked. */
  readonly maxBytes: number;
}

class TooLarge extends Error {}

/** Passes bytes on, up to a limit. */
const limited = (most: number): Transform => {
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

/** The folder that has more than one folder in it: archives are made with the folders around a store, or without. */
const innermost = async (folder: string): Promise<string> => {
  const [only, ...others] = await readdir(folder, { withFileTypes: true });
  if (only === undefined || others.length > 0 || !only.isDirectory()) return folder;
  const inner = join(folder, only.name);
  const isAround = (await readdir(inner, { withFileTypes: true })).every((entry) => entry.isDirectory());
  return isAround ? innermost(inner) : folder;
};

/** Unpacks an upload and returns the path for its reader: the file, or the folder of an archive. */
const unpacked = async (folder: string, maxBytes: number, signal: AbortSignal): Promise<string> => {
  let path = `${folder}/upload`;
  if (isGzip(await headOf(path))) {
    const plain = `${folder}/plain`;
    await pipeline(createReadStream(path), createGunzip(), limited(maxBytes), createWriteStream(plain, { mode: 0o600 }), { signal });
    path = plain;
  }
  if (!isTar(await headOf(path))) return path;
  const files = `${folder}/files`;
  await mkdir(files, { mode: 0o700 });
  await unpackTar(path, files);
  return innermost(files);
};

async function* arrivalsOf(
  reader: Reader,
  path: string,
  { secret, signal }: UploadedSource,
  clear: () => Promise<void>,
): AsyncIterable<Arrival> {
  try {
    const options = { path, url: null, keys: null, secret: secret === '' ? null : secret, signal };
    for await (const found of reader.read(options)) yield await arrivalOf(found);
  } catch (error) {
    throw error instanceof SourceFault ? new SourceProblem(error.message) : error;
  } finally {
    await clear();
  }
}

async function* linesOfAll(sessions: AsyncIterable<LeavingSession>): AsyncIterable<string> {
  for await (const session of sessions) yield* linesOfLeaving(session);
}

const problemOf = (error: unknown, maxBytes: number): Result<never> => {
  if (error instanceof TooLarge) return refuse('tooLarge', `the upload is larger than ${maxBytes} bytes (see IMPORT_MAX_BYTES)`);
  if (error instanceof SourceFault) return refuse('invalid', error.message);
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string' && code.startsWith('Z_')) return refuse('invalid', 'The compressed upload is cut off or damaged');
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR')
    return refuse('invalid', 'the upload was not sent to its end');
  throw error;
};

export const createSources = ({ newPath, maxBytes }: SourcesOptions): MovingSources => ({
  async receive(upload, source) {
    const reader = Object.hasOwn(readers, source.from) ? readers[source.from] : undefined;
    if (reader === undefined) return refuse('invalid', `from must be one of ${Object.keys(readers).join(', ')}`);
    const folder = newPath();
    const clear = (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      await mkdir(folder, { mode: 0o700 });
      const { signal } = source;
      await pipeline(Readable.from(upload), limited(maxBytes), createWriteStream(`${folder}/upload`, { mode: 0o600 }), { signal });
      const path = await unpacked(folder, maxBytes, signal);
      return done(arrivalsOf(reader, path, source, clear));
    } catch (error) {
      await clear();
      return problemOf(error, maxBytes);
    }
  },
  archive: (sessions, passphrase) => sealLines(linesOfAll(sessions), passphrase),
});
