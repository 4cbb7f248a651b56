/** The workshop: makes of a file what the platform takes for a kind of message, a few at once, each within its time. */
import { stat } from 'node:fs/promises';
import type { MediaKind } from '#actors/model.ts';
import type { TemporaryFolder } from '#src/files/temporary-folder.ts';
import { type Bench, type Made, type Maker, type MediaLimits, type MediaWork, noFacts, Scraps } from './bench.ts';
import { BoundedWork, MediaFailure, Slots } from './bounded-work.ts';
import { Ffmpeg } from './ffmpeg.ts';
import type { Media } from './media.ts';
import { imageMaker, ownThumbnail, portraitMakers, stickerMaker, wishedThumbnail } from './pictures.ts';
import type { MediaWorkshop, PreparedMedia, PrepareWishes } from './prepared.ts';
import { audioMaker, mp3Maker, videoMaker, voiceMaker } from './tracks.ts';
import { typeOf, unknownType } from './type-of.ts';

// Prepares documents: nothing in them changes.

/** Types that say so little that what the caller calls the file says more: a table of numbers is text, an installer is a ZIP. */
const vague: ReadonlySet<string> = new Set([unknownType, 'text/plain', 'application/xml', 'application/zip', 'application/x-cfb']);

/** A media type without what could end a header. */
const wellFormed = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(?:\s*;\s*[\w-]{1,32}=(?:[\w.+-]{1,64}|"[\w .+-]{1,64}"))*$/;

const documentMaker: Maker = async (file, bench) => {
  const wished = bench.wishes.mimetype?.trim().toLowerCase() ?? '';
  const mimetype = vague.has(file.mimetype) && wellFormed.test(wished) ? wished : file.mimetype;
  return { ...noFacts, path: file.path, size: file.size, mimetype, thumbnail: await ownThumbnail(file, bench) };
};

export interface WorkshopOptions extends MediaLimits {
  readonly media: Pick<Media, 'picture' | 'tracks' | 'previewPictures'>;
  readonly folder: TemporaryFolder;
  /** Absolute path of the program; null on a machine without it. */
  readonly ffmpeg: string | null;
  /** Pictures that are made at once, and as many conversions of ffmpeg beside them. */
  readonly jobs: number;
  /** For one file, with the time in which it waits for its turn. */
  readonly timeoutMs: number;
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

/** The pool with a bound of its own, so that files leave threads to everything else. */
const boundedMedia = (media: WorkshopOptions['media'], slots: Slots): MediaWork => ({
  picture: (as, task, signal) => slots.run(signal, () => media.picture(as, task, signal)),
  tracks: (path, signal) => slots.run(signal, () => media.tracks(path, signal)),
  thumbnail: (picture, signal) => slots.run(signal, async () => (await media.previewPictures(picture, false))?.small ?? null),
});

export const createWorkshop = ({ folder, jobs, timeoutMs, ffmpeg: program, ...options }: WorkshopOptions): MediaWorkshop => {
  const media = boundedMedia(options.media, new Slots(jobs));
  const cpuSeconds = Math.ceil(timeoutMs / 1000);
  const ffmpeg = program === null ? null : new Ffmpeg({ program, folder: folder.path, jobs, maxPixels: options.maxPixels, cpuSeconds });
  const late = (): MediaFailure => new MediaFailure('limited', 'the file could not be converted in time', { retryAfter: 30 });
  const bounded = new BoundedWork(timeoutMs, late);

  /** One piece of work, its paths, and what remains of them. */
  const onBench = async (work: (bench: Bench) => Promise<Made>, wishes: PrepareWishes, signal: AbortSignal): Promise<PreparedMedia> => {
    const scraps = new Scraps(folder);
    try {
      const paths = { newPath: () => scraps.newPath(), unused: (path: string) => scraps.unused(path) };
      const made = await work({ media, ffmpeg, limits: options, signal, wishes, ...paths });
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
      return bounded.run((signal) => onBench(work, wishes, signal), wishes.signal);
    },
    portrait: (file, as, { signal: given } = {}) =>
      bounded.run((signal) => onBench((bench) => portraitMakers[as](file, bench), {}, signal), given),
    toMp3(path, { signal: given } = {}) {
      const work = async (bench: Bench): Promise<Made> =>
        mp3Maker({ path, size: (await stat(path)).size, mimetype: await typeOf(path) }, bench);
      return bounded.run((signal) => onBench(work, {}, signal), given);
    },
    close: () => bounded.close(),
  };
};
