/** The tasks of the thread pool, one exported function per task. This file must load fast, so large libraries are loaded only when a task needs them. */
import { generateKeyPairSync } from 'node:crypto';
import { move } from 'piscina';
import QRCode from 'qrcode';

/** Makes a QR code with a quiet zone of four modules. The level L of error correction gives the largest modules. */
export const qrPng = (text: string): Promise<string> => QRCode.toDataURL(text, { errorCorrectionLevel: 'L', margin: 4, scale: 6 });

/** Encodings of a key pair. The raw key is the end of both encodings (RFC 8410). */
const encoding = { publicKeyEncoding: { format: 'der', type: 'spki' }, privateKeyEncoding: { format: 'der', type: 'pkcs8' } } as const;

export const generatePreKeys = (count: number): unknown => {
  const pairs = new Uint8Array(count * 64);
  for (let at = 0; at < pairs.length; at += 64) {
    const { privateKey, publicKey } = generateKeyPairSync('x25519', encoding);
    pairs.set(privateKey.subarray(-32), at);
    pairs.set(publicKey.subarray(-32), at + 32);
  }
  return move(pairs);
};

/** Loads sharp. If an installation lacks the binary for its platform, pictures have no thumbnails, and all else works. */
const loadSharp = () => import('./careful-sharp.ts').catch(() => null);

/** Sizes and qualities in descending order. The first result that fits in a message is used. */
const attempts = [
  { side: 320, quality: 70 },
  { side: 240, quality: 55 },
  { side: 160, quality: 45 },
  { side: 96, quality: 30 },
] as const;
const smallBytes = 10_240;
const largeSide = 800;
/** The time-out of decoding. It equals the time-out for fetching a page, because a message waits for both. In seconds. */
const decodeSeconds = 3;

export interface PreviewTask {
  readonly picture: Uint8Array;
  readonly large: boolean;
  /** The limit of pixels. A larger picture is not decoded. */
  readonly maxPixels: number;
}

const previews = async ({ picture, large, maxPixels }: PreviewTask) => {
  const careful = await loadSharp();
  if (careful === null) return null;
  const { sharp, mostPixelsOf } = careful;
  const { format, width, height } = await sharp(picture, { limitInputPixels: false }).metadata();
  if (width * height > mostPixelsOf(format, maxPixels)) return null;
  const side = large ? largeSide : attempts[0].side;
  // All sizes come from one decoded picture, because decoding a large source takes most of the time.
  const decoded = await sharp(picture, { limitInputPixels: maxPixels, sequentialRead: true })
    .timeout({ seconds: decodeSeconds })
    .autoOrient()
    .resize(side, side, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const jpegOf = async (most: number, quality: number) => {
    const made = sharp(decoded.data, { raw: decoded.info }).resize(most, most, { fit: 'inside', withoutEnlargement: true });
    const { data, info } = await made.jpeg({ quality }).toBuffer({ resolveWithObject: true });
    return { jpeg: new Uint8Array(data), width: info.width, height: info.height };
  };
  for (const attempt of attempts) {
    const { jpeg } = await jpegOf(attempt.side, attempt.quality);
    if (jpeg.length <= smallBytes) return { small: jpeg, large: large ? await jpegOf(largeSide, 80) : null };
  }
  return null;
};

export const previewPictures = (task: PreviewTask): Promise<unknown> => previews(task).catch(() => null);
