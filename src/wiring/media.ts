/** Composes the parts that handle files: the store, the ports of downloads, the pool of threads, the intake, the workshop, and the temporary folder. */
import { join } from 'node:path';
import { done } from '#actors/model.ts';
import type { Chance, Disk, FileRows, FileStore, Log, RemovalStore, Sounds } from '#actors/ports.ts';
import type { Settings } from '#config/load.ts';
import { findProgram } from '#config/programs.ts';
import { nodeNameOf } from '#src/wiring/cluster.ts';
import { type BlobStore, hashFile, openFolderBlobs, openTemporaryFolder, type TemporaryFolder } from '#src/files/blobs.ts';
import { openBucketBlobs } from '#src/files/bucket-blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';
import { Slots } from '#src/media/bounded-work.ts';
import { endLeftoverChildren } from '#src/media/ffmpeg.ts';
import { fetchesAtOnce } from '#src/media/fetches.ts';
import { createIntake } from '#src/media/intake.ts';
import { createLinkPreviews } from '#src/media/link-preview.ts';
import { createMedia, createSealing } from '#src/media/media.ts';
import { createWorkshop } from '#src/media/prepare.ts';
import type { MediaWorkshop } from '#src/media/prepared.ts';
import { Transcriber } from '#src/media/transcriber.ts';
import type { Downloads } from '#src/platform/outbound/media-stream.ts';
import type { AddressGuard } from '#src/webhooks/address-guard.ts';

// Composes the parts that store and fetch files: the store, the ports of downloads, and the conversion of sound.

interface FileInput {
  readonly settings: Settings;
  readonly dataDir: string;
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly folder: TemporaryFolder;
  readonly rows: FileRows;
  readonly removals: RemovalStore;
  readonly chance: Pick<Chance, 'hex'>;
  readonly workshop: Pick<MediaWorkshop, 'toMp3'>;
  now(): number;
  /** Registers the close function of an opened part. Parts must be closed in reverse order. */
  readonly onOpen: (name: string, close: () => Promise<void>) => void;
}

const openBlobs = async ({ settings, dataDir, folder, onOpen }: FileInput): Promise<BlobStore> => {
  if (settings.filesBucket === null) return openFolderBlobs(join(dataDir, 'files'), folder);
  const bucket = openBucketBlobs(
    {
      endpoint: settings.filesBucket,
      region: settings.filesBucketRegion,
      keyId: settings.filesBucketKeyId,
      secret: settings.filesBucketSecret,
      silenceMs: settings.filesBucketSilenceMs,
    },
    folder,
  );
  onOpen('bucket', () => bucket.close());
  return bucket;
};

/** Removes the files of an instance before its rows. An interrupted removal therefore finds the remaining files again. */
const withFiles = (removals: RemovalStore, files: FileStore): RemovalStore => ({
  ...removals,
  removePiece: async (removal) =>
    ((removal.kind === 'instance' || removal.kind === 'account') && (await files.removeOf(removal.id)) > 0) ||
    (await removals.removePiece(removal)),
});

/** Makes the downloads, and the function that returns the number of waiting downloads of an instance. */
const downloadsOf = ({ settings, guard, userAgent, folder, onOpen }: FileInput) => {
  const intake = createIntake({
    guard,
    userAgent,
    folder,
    maxBytes: settings.downloadMaxBytes,
    timeoutMs: settings.downloadMs,
    silenceMs: settings.downloadSilenceMs,
  });
  onOpen('downloads', () => intake.close());
  const slots = new Slots(settings.downloadsAtOnce);
  const downloads: Downloads = {
    receive: (bytes, options) => slots.run(options.instance, options.signal, () => intake.receive(bytes, options)),
    most: settings.downloadMaxBytes,
    silenceMs: settings.downloadSilenceMs,
    phoneMs: settings.downloadPhoneMs,
  };
  return { downloads, downloadsWaiting: (instance: string): number => slots.waiting(instance) };
};

const toMp3 = async (workshop: FileInput['workshop'], instance: string, source: string): ReturnType<Sounds['toMp3']> => {
  const made = await workshop.toMp3(source, { instance });
  if (!made.ok) return made;
  const { path, size, mimetype, discard } = made.value;
  return done({ path, size, mimetype, hash: await hashFile(path), filename: '', discard: () => discard() });
};

export async function openFileParts(given: FileInput) {
  const { settings, rows, chance, now, guard, userAgent, workshop, onOpen } = given;
  const blobs = await openBlobs(given);
  const files = createFileStore({
    rows,
    blobs,
    baseUrl: settings.baseUrl,
    isComplete: settings.filesBucket !== null || nodeNameOf(settings) === null,
    chance,
    now,
  });
  const transcriber = new Transcriber({
    guard,
    userAgent,
    url: settings.transcribeUrl ?? '',
    model: settings.transcribeModel,
    timeoutMs: settings.transcribeMs,
  });
  onOpen('transcriber', () => transcriber.close());
  const sounds: Sounds = {
    toMp3: (instance, path) => toMp3(workshop, instance, path),
    transcribe: (sound, key) => transcriber.transcribe(sound, key),
  };
  return { files, sounds, ...downloadsOf(given), removals: withFiles(given.removals, files) };
}

// Composes the parts that prepare files: the pool of threads, the intake, the workshop, and the temporary folder.

interface MediaInput {
  readonly settings: Settings;
  readonly dataDir: string;
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly disk: Pick<Disk, 'freeBytes' | 'warning'>;
  readonly log: Log;
  /** Registers the close function of an opened part. Parts must be closed in reverse order. */
  readonly onOpen: (name: string, close: () => Promise<void>) => void;
}

/** Opens the parts. No other process may use the data folder, because the temporary folder in it is emptied. */
export async function openMediaParts({ settings, dataDir, guard, userAgent, disk, log, onOpen }: MediaInput) {
  // Three threads more than the largest number of concurrent conversions: one for encryption, one for link previews, and one for QR codes, which must
  // not wait for a file.
  const media = createMedia({ threads: settings.mediaJobs + 3, maxPixels: settings.mediaMaxPixels });
  onOpen('media', () => media.close());
  const temporary = join(dataDir, 'temporary');
  const leftovers = await endLeftoverChildren(temporary);
  if (leftovers > 0) log.warn({ programs: leftovers }, 'media.leftoversEnded');
  const folder = await openTemporaryFolder(temporary);
  onOpen('temporary', () => folder.empty());
  const intake = createIntake({
    guard,
    userAgent,
    folder,
    maxBytes: settings.mediaMaxBytes,
    timeoutMs: settings.mediaFetchMs,
    silenceMs: settings.mediaSilenceMs,
    // While the watch of the disk warns, a large disk may still have room for all fetches.
    isDiskFull: () => disk.warning !== '' && disk.freeBytes < fetchesAtOnce * settings.mediaMaxBytes,
  });
  onOpen('intake', () => intake.close());
  const ffmpeg = findProgram(settings.ffmpegPath);
  log.debug({ isThere: ffmpeg !== null }, 'media.ffmpeg');
  const workshop = createWorkshop({
    media,
    folder,
    ffmpeg,
    jobs: settings.mediaJobs,
    timeoutMs: settings.mediaConvertMs,
    turnMs: settings.mediaTurnMs,
    pictureMs: Math.min(settings.mediaConvertMs, 30_000),
    maxBytes: settings.mediaMaxBytes,
    maxPixels: settings.mediaMaxPixels,
    maxSide: settings.mediaMaxSide,
  });
  onOpen('workshop', () => workshop.close());
  const sealing = createSealing(media, folder, 1);
  const previews = createLinkPreviews({ guard, media, userAgent });
  onOpen('previews', () => previews.close());
  return { media, folder, intake, workshop, sealing, previews };
}
