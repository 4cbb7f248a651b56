/**
 * The workshop. It converts files to the form that the platform accepts for a kind of message. The number of concurrent conversions and the
 * time of each are bounded.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { MediaKind } from '#actors/model.ts';
import { onTemporaryDisk, type TemporaryFolder } from '#src/files/blobs.ts';
import { type Bench, type Made, type Maker, type MediaLimits, type MediaWork, noFacts, Scraps } from './bench.ts';
import { type BoundedTask, BoundedWork, MediaFailure, sizeText, Slots } from './bounded-work.ts';
import { Ffmpeg } from './ffmpeg.ts';
import type { Media, PictureKind } from './media.ts';
import type { PictureOutcome } from './picture-worker.ts';
import type { MediaWorkshop, PreparedMedia, PrepareWishes, SourceFile } from './prepared.ts';
import { release } from './release.ts';
import { audioMaker, mp3Maker, videoMaker, voiceMaker } from './tracks.ts';
import { typeOf, unknownType } from './intake.ts';

// Prepares pictures: images, stickers, and thumbnails of other files.

/** Formats that the library opens. HEIC is missing, because its decoder may not be distributed freely. */
const readable: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/apng',
  'image/webp',
  'image/gif',
  'image/tiff',
  'image/avif',
]);

type MadePicture = Extract<PictureOutcome, { readonly problem: null }>;

const madeOf = (outcome: PictureOutcome, mimetype: string): MadePicture => {
  switch (outcome.problem) {
    case null:
      return outcome;
    case 'unreadable':
      throw new MediaFailure('invalid', `the file begins like ${mimetype}, but it is damaged`);
    case 'late':
      throw new MediaFailure('invalid', 'the picture takes too long to convert');
    case 'bytes':
      throw new MediaFailure('tooLarge', `the picture does not fit in the ${sizeText(outcome.limit)} of a sticker in any quality`);
    case 'side':
      throw new MediaFailure(
        'tooLarge',
        `the picture has ${outcome.width} × ${outcome.height} pixels; a side may have ${outcome.most}: send it as a document`,
      );
    case 'pixels': {
      const { width, height, frames, most } = outcome;
      const size = frames > 1 ? `${frames} frames of ${width} × ${height}` : `${width} × ${height}`;
      throw new MediaFailure('tooLarge', `the picture has ${size} pixels; ${most} are allowed`);
    }
  }
};

/** Writes a new file, and frees the bytes. */
const writtenTo = async (path: string, bytes: Uint8Array): Promise<Pick<SourceFile, 'path' | 'size'>> => {
  const size = bytes.length;
  await onTemporaryDisk(writeFile(path, bytes, { flag: 'wx', mode: 0o600 }));
  release(bytes);
  return { path, size };
};

const pictureMaker =
  (as: PictureKind): Maker =>
  async (file, bench) => {
    const { limits, media } = bench;
    if (!readable.has(file.mimetype))
      throw new MediaFailure(
        'notConvertible',
        `the file is ${file.mimetype}, which cannot be ${as === 'portrait' || as === 'product' ? 'used as a picture' : `sent as ${as}`}: send a JPEG, PNG, WebP or GIF`,
      );
    const task = {
      path: file.path,
      maxPixels: limits.maxPixels,
      maxSide: limits.maxSide,
      timeoutSeconds: Math.max(1, Math.ceil(limits.pictureMs / 1000)),
    };
    const { bytes, ...made } = madeOf(await media.picture(as, task), file.mimetype);
    const { path, size } = bytes === null ? file : await writtenTo(bench.newPath(), bytes);
    const { mimetype, width, height, isAnimated, thumbnail } = made;
    return { ...noFacts, path, size, mimetype, width, height, isAnimated, thumbnail };
  };

const imageMaker = pictureMaker('image');
const stickerMaker = pictureMaker('sticker');
const portraitMakers = { portrait: pictureMaker('portrait'), product: pictureMaker('product') } as const;

/** Makes the thumbnail of a file that is an image. Returns null for any other file, and also if the picture cannot be converted. */
const ownThumbnail = async (file: SourceFile, bench: Bench): Promise<Uint8Array | null> => {
  if (!readable.has(file.mimetype)) return null;
  const { maxPixels, maxSide } = bench.limits;
  const task = { path: file.path, maxPixels, maxSide, timeoutSeconds: 5 };
  const outcome = await bench.media.picture('image', task);
  return outcome.problem === null ? outcome.thumbnail : null;
};

/** The size limit of a thumbnail from a client, in bytes. Real thumbnails are smaller. */
const largestWish = 8_388_608;

/** Returns the thumbnail that the client sent; null if it sent none. */
const wishedThumbnail = async ({ wishes, media }: Bench): Promise<Uint8Array | null> => {
  const { thumbnail } = wishes;
  if (thumbnail === undefined) return null;
  const size = typeof thumbnail === 'string' ? (await stat(thumbnail)).size : thumbnail.length;
  if (size > largestWish) throw new MediaFailure('tooLarge', `the thumbnail is larger than ${sizeText(largestWish)}`);
  const found = await media.thumbnail(typeof thumbnail === 'string' ? await readFile(thumbnail) : thumbnail);
  if (!found) throw new MediaFailure('invalid', 'the thumbnail is no picture that can be read');
  return found;
};

// Prepares documents. Their content stays unchanged.

/** Types that say little about a file. The type from the caller is then more precise: a CSV table is detected as text, and an installer as a ZIP. */
const vague: ReadonlySet<string> = new Set([unknownType, 'text/plain', 'application/xml', 'application/zip', 'application/x-cfb']);

/** A valid media type, without characters that could end a header. */
const wellFormed = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(?:\s*;\s*[\w-]{1,32}=(?:[\w.+-]{1,64}|"[\w .+-]{1,64}"))*$/;

const documentMaker: Maker = async (file, bench) => {
  const wished = bench.wishes.mimetype?.trim().toLowerCase() ?? '';
  const mimetype = vague.has(file.mimetype) && wellFormed.test(wished) ? wished : file.mimetype;
  return { ...noFacts, path: file.path, size: file.size, mimetype, thumbnail: await ownThumbnail(file, bench) };
};

export interface WorkshopOptions extends MediaLimits {
  readonly media: Pick<Media, 'picture' | 'tracks' | 'previewPictures'>;
  readonly folder: TemporaryFolder;
  /** The absolute path of ffmpeg; null if the machine has none. */
  readonly ffmpeg: string | null;
  /** The largest number of concurrent tasks in the pool, and also of concurrent conversions by ffmpeg. */
  readonly jobs: number;
  /** The time-out of one file without its waits for slots. In milliseconds. */
  readonly timeoutMs: number;
  /** The time-out of the waits of one file for slots. The default is `timeoutMs`. In milliseconds. */
  readonly turnMs?: number;
}

const makers: Readonly<Record<MediaKind, Maker>> = {
  image: imageMaker,
  sticker: stickerMaker,
  document: documentMaker,
  video: videoMaker('video'),
  videoplay: videoMaker('videoplay'),
  ptv: videoMaker('ptv'),
  audio: audioMaker,
  myaudio: audioMaker,
  ptt: voiceMaker,
};

/** Limits the file tasks in the pool, so that other tasks find free threads. */
const boundedMedia = (media: WorkshopOptions['media'], slots: Slots, task: BoundedTask): MediaWork => ({
  picture: (as, given) => task.run(slots, () => media.picture(as, given, task.signal)),
  tracks: (path) => task.run(slots, () => media.tracks(path, task.signal)),
  thumbnail: (picture) => task.run(slots, async () => (await media.previewPictures(picture, false, task.signal))?.small ?? null),
});

export const createWorkshop = ({ folder, jobs, timeoutMs, turnMs, ffmpeg: program, ...options }: WorkshopOptions): MediaWorkshop => {
  const slots = new Slots(jobs, { isStrict: false });
  const cpuSeconds = Math.ceil(timeoutMs / 1000);
  const ffmpeg = program === null ? null : new Ffmpeg({ program, folder: folder.path, jobs, maxPixels: options.maxPixels, cpuSeconds });
  // A file that waited too long for a slot may be tried again soon. A conversion that took too long would take as long again.
  const late = (isWaiting: boolean): MediaFailure =>
    new MediaFailure('limited', 'the file could not be converted in time', isWaiting ? { retryAfter: 30 } : {});
  const bounded = new BoundedWork(timeoutMs, late, turnMs);

  /** Runs one task, and removes its temporary files except the result. */
  const onBench = async (work: (bench: Bench) => Promise<Made>, wishes: PrepareWishes, task: BoundedTask): Promise<PreparedMedia> => {
    const scraps = new Scraps(folder);
    const media = boundedMedia(options.media, slots, task);
    try {
      const made = await work({ media, ffmpeg, limits: options, task, wishes, newPath: () => scraps.newPath() });
      return { ...made, discard: await scraps.removeAllBut(made.path) };
    } catch (error) {
      await scraps.removeAllBut(null);
      throw error;
    }
  };

  return {
    prepare(file, as, wishes = {}) {
      const work = async (bench: Bench): Promise<Made> => {
        const wished = await wishedThumbnail(bench);
        const made = await makers[as](file, bench);
        return { ...made, thumbnail: wished ?? made.thumbnail };
      };
      return bounded.run((task) => onBench(work, wishes, task), wishes.signal, wishes.instance);
    },
    portrait: (file, as, { instance, signal } = {}) =>
      bounded.run((task) => onBench((bench) => portraitMakers[as](file, bench), {}, task), signal, instance),
    toMp3(path, { instance, signal } = {}) {
      const work = async (bench: Bench): Promise<Made> =>
        mp3Maker({ path, size: (await stat(path)).size, mimetype: await typeOf(path) }, bench);
      return bounded.run((task) => onBench(work, {}, task), signal, instance);
    },
    close: () => bounded.close(),
  };
};
