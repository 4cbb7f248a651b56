/** Implements the port by which the gateway uses this folder. Reads uploads with stores of other gateways, and archives of this gateway. */
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { done, refuse, type Result } from '#actors/model.ts';
import { SourceProblem, type Arrival, type LeavingSession, type MovingSources, type UploadedSource } from '#actors/ports.ts';
import { sealLines } from './archive.ts';
import { linesOfLeaving } from './archived.ts';
import { arrivalOf } from './arrival.ts';
import { readers } from './readers.ts';
import { type Reader, SourceFault } from './session.ts';
import { limited, TooLarge, unpackUpload } from './upload.ts';

interface SourcesOptions {
  /** Returns an unused path on the disk of the data folder. */
  newPath(): string;
  /** The largest upload in bytes. The unpacked upload has the same limit. */
  readonly maxBytes: number;
}

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
  if (code === 'ENOSPC' || code === 'EDQUOT') return refuse('unavailable', 'the disk of the gateway has no room for the upload');
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
      await pipeline(Readable.from(upload), limited(maxBytes), createWriteStream(`${folder}/sent`, { mode: 0o600 }), { signal });
      const path = await unpackUpload({ folder, from: source.from, reader, maxBytes, signal });
      return done(arrivalsOf(reader, path, source, clear));
    } catch (error) {
      await clear();
      return problemOf(error, maxBytes);
    }
  },
  archive: (sessions, passphrase, hasRows) => sealLines(linesOfAll(sessions), passphrase, hasRows ? 2 : 1),
});
