/**
 * Converts pictures in the threads of the pool, with one exported function per task. A picture with more pixels than the task allows is not
 * decoded. The threads write no file. An aborted conversion continues after the end of its thread, and would leave its file behind.
 */
import { readFile, stat } from 'node:fs/promises';
import type { Metadata, Sharp } from 'sharp';
import { mostPixelsOf, sharp } from './careful-sharp.ts';
import { thumbnailSide } from './prepared.ts';
import { release } from './release.ts';

export interface PictureTask {
  readonly path: string;
  readonly maxPixels: number;
  /** Longest side, in pixels. */
  readonly maxSide: number;
  readonly timeoutSeconds: number;
}

/** The outcome of a picture: its facts, or the reason of the failure. */
export type PictureOutcome =
  | {
      readonly problem: null;
      /** The converted picture; null if the source may stay unchanged. */
      readonly bytes: Uint8Array | null;
      readonly mimetype: string;
      readonly width: number;
      readonly height: number;
      readonly isAnimated: boolean;
      readonly thumbnail: Uint8Array;
    }
  | { readonly problem: 'unreadable' | 'late' }
  | { readonly problem: 'pixels'; readonly width: number; readonly height: number; readonly frames: number; readonly most: number }
  | { readonly problem: 'side'; readonly width: number; readonly height: number; readonly most: number }
  /** The picture is too large in every quality; `limit` in bytes. */
  | { readonly problem: 'bytes'; readonly limit: number };

type Made = Extract<PictureOutcome, { readonly problem: null }>;

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

/** Returns the shape as it is displayed. Orientations from 5 on rotate the picture by 90 degrees. */
const shapeOf = ({ width, height, pageHeight, pages, orientation }: Metadata): Shape => {
  const tall = pageHeight ?? height;
  const turned = (orientation ?? 1) >= 5;
  return { width: turned ? tall : width, height: turned ? width : tall, frames: pages ?? 1 };
};

const problemOf = (error: unknown): PictureOutcome => ({ problem: /timeout/i.test(String(error)) ? 'late' : 'unreadable' });

type OpenPicture = (options?: { readonly animated: boolean }) => Sharp;

/**
 * The size up to which a file is read into memory. A larger file is opened twice, for its head and for its pixels. The second opening takes another half
 * millisecond. In bytes.
 */
const heldBytes = 2_097_152;

const sourceOf = async (path: string): Promise<Buffer | string> => ((await stat(path)).size <= heldBytes ? readFile(path) : path);

/** Reads the head of the picture, and starts the work if the picture is not too large. */
const withPicture = async (
  { path, maxPixels, maxSide, timeoutSeconds }: PictureTask,
  animated: boolean,
  work: (open: OpenPicture, facts: Metadata, shape: Shape) => Promise<PictureOutcome>,
): Promise<PictureOutcome> => {
  const source = await sourceOf(path).catch(() => path);
  const open: OpenPicture = (options) =>
    sharp(source, { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true, ...options }).timeout({ seconds: timeoutSeconds });
  try {
    const facts = await sharp(source, { limitInputPixels: false, animated }).metadata();
    const shape = shapeOf(facts);
    const frames = animated ? shape.frames : 1;
    const { width, height } = shape;
    if (Math.max(width, height) > maxSide) return { problem: 'side', width, height, most: maxSide };
    const most = mostPixelsOf(facts.format, maxPixels);
    if (width * height * frames > most) return { problem: 'pixels', ...shape, frames, most };
    return await work(open, facts, shape);
  } catch (error) {
    return problemOf(error);
  } finally {
    if (typeof source !== 'string') release(source);
  }
};

/** Encodes a picture. The bytes are copied into a buffer of their own, because a buffer is sent to another thread as a whole. */
const encoded = async (picture: Sharp) => {
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { bytes: new Uint8Array(data), info };
};

const thumbnailOf = async (picture: Sharp): Promise<Uint8Array> =>
  new Uint8Array(
    await picture
      .autoOrient()
      .resize(thumbnailSide, thumbnailSide, { fit: 'inside' })
      .flatten({ background: 'white' })
      .jpeg({ quality: 50 })
      .toBuffer(),
  );

const longestEdge = 1_600;

const prepareShown = (task: PictureTask, mayBePng: boolean): Promise<PictureOutcome> =>
  withPicture(task, false, async (open, facts, { width, height }) => {
    const isPng = mayBePng && facts.format === 'png';
    const mimetype = isPng ? 'image/png' : 'image/jpeg';
    const fits = (isPng || facts.format === 'jpeg') && Math.max(width, height) <= longestEdge && (facts.orientation ?? 1) === 1;
    const usual: Pick<Made, 'problem' | 'mimetype' | 'isAnimated'> = { problem: null, mimetype, isAnimated: false };
    if (fits && facts.space !== 'cmyk') return { ...usual, bytes: null, width, height, thumbnail: await thumbnailOf(open()) };
    const resized = open().autoOrient().resize(longestEdge, longestEdge, { fit: 'inside', withoutEnlargement: true });
    const made = isPng ? resized.png() : resized.flatten({ background: 'white' }).jpeg({ quality: 85, mozjpeg: false });
    const { bytes, info } = await encoded(made);
    return { ...usual, bytes, width: info.width, height: info.height, thumbnail: await thumbnailOf(sharp(bytes)) };
  });

/** Prepares an `image`. An upright JPEG or PNG whose sides fit stays unchanged. A larger PNG is scaled down. All other pictures become JPEGs. */
export const prepareImage = (task: PictureTask): Promise<PictureOutcome> => prepareShown(task, true);

/** Prepares a `product` as JPEG, the only format that the platform accepts for catalogs. */
export const prepareProduct = (task: PictureTask): Promise<PictureOutcome> => prepareShown(task, false);

const portraitSide = 640;

/** Prepares a `portrait`: a square JPEG from the middle, in the size in which the platform displays pictures of groups and people. */
export const preparePortrait = (task: PictureTask): Promise<PictureOutcome> =>
  withPicture(task, false, async (open) => {
    const made = open()
      .autoOrient()
      .resize(portraitSide, portraitSide, { fit: 'cover' })
      .flatten({ background: 'white' })
      .jpeg({ quality: 80 });
    const { bytes, info } = await encoded(made);
    const thumbnail = new Uint8Array();
    return { problem: null, bytes, mimetype: 'image/jpeg', width: info.width, height: info.height, isAnimated: false, thumbnail };
  });

const stickerSide = 512;
const stickerBytes = { still: 102_400, moving: 512_000 } as const;
const qualities = [80, 55, 35, 15, 1] as const;

/** Prepares a `sticker`: WebP of 512 × 512 with transparent margins, in the best quality that fits. */
export const prepareSticker = (task: PictureTask): Promise<PictureOutcome> =>
  withPicture(task, true, async (open, facts, { width, height, frames }) => {
    const isAnimated = frames > 1;
    const limit = isAnimated ? stickerBytes.moving : stickerBytes.still;
    const usual = { problem: null, mimetype: 'image/webp', isAnimated, width: stickerSide, height: stickerSide } as const;
    const isFit = facts.format === 'webp' && width === stickerSide && height === stickerSide && (await stat(task.path)).size <= limit;
    if (isFit) return { ...usual, bytes: null, thumbnail: await thumbnailOf(open()) };
    if (frames * stickerSide ** 2 > task.maxPixels)
      return { problem: 'pixels', width: stickerSide, height: stickerSide, frames, most: task.maxPixels };
    let best = 100;
    for (const quality of qualities) {
      if (quality > best) continue;
      // The frames are stacked in one tall picture, so they cannot be rotated.
      const frame = isAnimated ? open({ animated: true }) : open().autoOrient();
      const made = frame
        .resize(stickerSide, stickerSide, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
        .webp({ quality, alphaQuality: quality, effort: isAnimated ? 3 : 5 });
      const { bytes } = await encoded(made);
      const size = bytes.length;
      // The result is far too large, so all qualities above 20 are skipped.
      if (size > limit * 3) best = 20;
      if (size <= limit) return { ...usual, bytes, thumbnail: await thumbnailOf(sharp(bytes)) };
    }
    return { problem: 'bytes', limit };
  });
