/** Composes the parts that store and fetch files: the store, the ports of downloads, and the conversion of sound. */
import { nodeNameOf } from '#src/wiring/cluster.ts';
import { join } from 'node:path';
import type { Chance, FileRows, FileStore, RemovalStore, Sounds } from '#actors/ports.ts';
import { done } from '#actors/model.ts';
import type { Settings } from '#config/load.ts';
import { type BlobStore, hashFile } from '#src/files/blobs.ts';
import { openBucketBlobs } from '#src/files/bucket-blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';
import { openFolderBlobs } from '#src/files/folder-blobs.ts';
import type { TemporaryFolder } from '#src/files/temporary-folder.ts';
import { createIntake } from '#src/media/intake.ts';
import type { MediaWorkshop } from '#src/media/prepared.ts';
import { Slots } from '#src/media/bounded-work.ts';
import { createTranscriber } from '#src/media/transcriber.ts';
import type { Downloads } from '#src/platform/outbound/media-stream.ts';
import type { AddressGuard } from '#src/webhooks/address-guard.ts';

interface Given {
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
  /** Called for each opened part with its way to close; the last one is to be closed first. */
  readonly onOpen: (name: string, close: () => Promise<void>) => void;
}

const openBlobs = async ({ settings, dataDir, folder, onOpen }: Given): Promise<BlobStore> => {
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

/** The files of an instance go before its rows, so that a removal that was interrupted finds what is left. */
const withFiles = (removals: RemovalStore, files: FileStore): RemovalStore => ({
  ...removals,
  removePiece: async (removal) =>
    ((removal.kind === 'instance' || removal.kind === 'account') && (await files.removeOf(removal.id)) > 0) ||
    (await removals.removePiece(removal)),
});

const downloadsOf = ({ settings, guard, userAgent, folder, onOpen }: Given): Downloads => {
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
  return {
    receive: (bytes, options) => slots.run(options.signal, () => intake.receive(bytes, options)),
    most: settings.downloadMaxBytes,
    silenceMs: settings.downloadSilenceMs,
    phoneMs: settings.downloadPhoneMs,
  };
};

const toMp3 = async (workshop: Given['workshop'], source: string): ReturnType<Sounds['toMp3']> => {
  const made = await workshop.toMp3(source);
  if (!made.ok) return made;
  const { path, size, mimetype, discard } = made.value;
  return done({ path, size, mimetype, hash: await hashFile(path), filename: '', discard: () => discard() });
};

export async function openFileParts(given: Given) {
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
  const transcriber = createTranscriber({
    guard,
    userAgent,
    url: settings.transcribeUrl ?? '',
    model: settings.transcribeModel,
    timeoutMs: settings.transcribeMs,
  });
  onOpen('transcriber', () => transcriber.close());
  const sounds: Sounds = { toMp3: (path) => toMp3(workshop, path), transcribe: (sound, key) => transcriber.transcribe(sound, key) };
  return { files, sounds, downloads: downloadsOf(given), removals: withFiles(given.removals, files) };
}
