/** The workshop: makes of a file what the platform takes for a kind of message, a few at once, each within its time. */
import type { TemporaryFolder } from '#src/files/temporary-folder.ts';
import { type Bench, type Maker, type MediaLimits, Scraps } from './bench.ts';
import { BoundedWork } from './bounded-work.ts';
import { documentMaker } from './documents.ts';
import type { Media } from './media.ts';
import { MediaFailure } from './media-failure.ts';
import { imageMaker, stickerMaker, wishedThumbnail } from './pictures.ts';
import type { MediaKind, MediaWorkshop, PreparedMedia, PrepareWishes, SourceFile } from './prepared.ts';
import { Slots } from './slots.ts';

export interface WorkshopOptions extends MediaLimits {
  readonly media: Pick<Media, 'picture' | 'previewPictures'>;
  readonly folder: TemporaryFolder;
  /** Files that are worked on at once. */
  readonly jobs: number;
  /** For one file, with the time in which it waits for its turn. */
  readonly timeoutMs: number;
}

const notYet: Maker = async (file) => {
  throw new MediaFailure('notConvertible', `the file is ${file.mimetype}, and this machine has no ffmpeg to convert it`);
};

const makers: Readonly<Record<MediaKind, Maker>> = {
  image: imageMaker,
  sticker: stickerMaker,
  document: documentMaker,
  video: notYet,
  videoplay: notYet,
  ptv: notYet,
  audio: notYet,
  myaudio: notYet,
  ptt: notYet,
};

export const createWorkshop = ({ media, folder, jobs, timeoutMs, ...limits }: WorkshopOptions): MediaWorkshop => {
  const slots = new Slots(jobs);
  const bounded = new BoundedWork(
    timeoutMs,
    () => new MediaFailure('limited', 'the file could not be converted in time', { retryAfter: 30 }),
  );

  /** One piece of work: its turn, its paths, and what remains of them. */
  const onBench = async (
    work: (bench: Bench) => Promise<Omit<PreparedMedia, 'discard'>>,
    wishes: PrepareWishes,
    signal: AbortSignal,
  ): Promise<PreparedMedia> => {
    const scraps = new Scraps(folder);
    const bench: Bench = { media, limits, signal, wishes, newPath: () => scraps.newPath() };
    try {
      const made = await slots.run(signal, () => work(bench));
      return { ...made, discard: await scraps.removeAllBut(made.path) };
    } catch (error) {
      await scraps.removeAllBut(null);
      throw error;
    }
  };

  const prepare = async (file: SourceFile, as: MediaKind, bench: Bench) => {
    const wished = await wishedThumbnail(bench);
    const made = await makers[as](file, bench);
    return { ...made, thumbnail: wished ?? made.thumbnail };
  };

  return {
    prepare: (file, as, wishes = {}) =>
      bounded.run((signal) => onBench((bench) => prepare(file, as, bench), wishes, signal), wishes.signal),
    close: () => bounded.close(),
  };
};
