/** The workshop: makes of a file what the platform takes for a kind of message, a few at once, each within its time. */
import { stat } from 'node:fs/promises';
import type { MediaKind } from '#actors/model.ts';
import type { TemporaryFolder } from '#src/files/temporary-folder.ts';
import { type Bench, type Made, type Maker, type MediaLimits, type MediaWork, Scraps } from './bench.ts';
import { BoundedWork } from './bounded-work.ts';
import { documentMaker } from './documents.ts';
import { Ffmpeg } from './ffmpeg.ts';
import type { Media } from './media.ts';
import { MediaFailure } from './media-failure.ts';
import { imageMaker, portraitMakers, stickerMaker, wishedThumbnail } from './pictures.ts';
import type { MediaWorkshop, PreparedMedia, PrepareWishes } from './prepared.ts';
import { Slots } from './slots.ts';
import { audioMaker, mp3Maker, voiceMaker } from './sounds.ts';
import { typeOf } from './type-of.ts';
import { videoMaker } from './videos.ts';

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
