/** Prepares pictures: images, stickers, and the small ones that stand for other files. */
import { readFile, stat } from 'node:fs/promises';
import { type Bench, noFacts, type Maker } from './bench.ts';
import type { PictureKind } from './media.ts';
import { MediaFailure, sizeText } from './bounded-work.ts';
import type { PictureOutcome } from './picture-worker.ts';
import type { SourceFile } from './prepared.ts';

/** Formats that the library opens. HEIC is not among them, because its decoder is not free to ship. */
const readable: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/apng',
  'image/webp',
  'image/gif',
  'image/tiff',
  'image/avif',
]);

type Made = Extract<PictureOutcome, { readonly problem: null }>;

const madeOf = (outcome: PictureOutcome, mimetype: string): Made => {
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

const pictureMaker =
  (as: PictureKind): Maker =>
  async (file, bench) => {
    const { limits, media, signal } = bench;
    if (!readable.has(file.mimetype))
      throw new MediaFailure(
        'notConvertible',
        `the file is ${file.mimetype}, which cannot be ${as === 'portrait' || as === 'product' ? 'used as a picture' : `sent as ${as}`}: send a JPEG, PNG, WebP or GIF`,
      );
    const task = {
      path: file.path,
      target: bench.newPath(),
      maxPixels: limits.maxPixels,
      maxSide: limits.maxSide,
      timeoutSeconds: Math.max(1, Math.ceil(limits.pictureMs / 1000)),
    };
    const { isNew, mimetype, width, height, isAnimated, thumbnail } = madeOf(await media.picture(as, task, signal), file.mimetype);
    if (!isNew) bench.unused(task.target);
    const path = isNew ? task.target : file.path;
    const { size } = isNew ? await stat(path) : file;
    return { ...noFacts, path, size, mimetype, width, height, isAnimated, thumbnail };
  };

export const imageMaker = pictureMaker('image');
export const stickerMaker = pictureMaker('sticker');
export const portraitMakers = { portrait: pictureMaker('portrait'), product: pictureMaker('product') } as const;

/** The own picture of a file that is an image; null when there is none, which spoils nothing. */
export const ownThumbnail = async (file: SourceFile, bench: Bench): Promise<Uint8Array | null> => {
  if (!readable.has(file.mimetype)) return null;
  const { maxPixels, maxSide } = bench.limits;
  const task = { path: file.path, target: bench.newPath(), maxPixels, maxSide, timeoutSeconds: 5 };
  const outcome = await bench.media.picture('image', task, bench.signal);
  return outcome.problem === null ? outcome.thumbnail : null;
};

/** More bytes than a picture of this purpose has. */
const largestWish = 8_388_608;

/** The picture that was wished for; null when none was. */
export const wishedThumbnail = async ({ wishes, media, signal }: Bench): Promise<Uint8Array | null> => {
  const { thumbnail } = wishes;
  if (thumbnail === undefined) return null;
  const size = typeof thumbnail === 'string' ? (await stat(thumbnail)).size : thumbnail.length;
  if (size > largestWish) throw new MediaFailure('tooLarge', `the thumbnail is larger than ${sizeText(largestWish)}`);
  const found = await media.thumbnail(typeof thumbnail === 'string' ? await readFile(thumbnail) : thumbnail, signal);
  if (!found) throw new MediaFailure('invalid', 'the thumbnail is no picture that can be read');
  return found;
};
