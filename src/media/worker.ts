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
const loadSharp = () =>
  import('./careful-sharp.ts').then(
    ({ sharp }) => sharp,
    () => null,
  );

/** Sizes and qualities in descending order. The first result that fits in a message is used. */
const attempts = [
  { side: 320, quality: 70 },
  { side: 240, quality: 55 },
  { side: 160, quality: 45 },
  { side: 96, quality: 30 },
] as const;
const smallBytes = 10_240;
const largeSide = 800;
/** The largest number of pixels in a picture. Larger pictures are not opened. */
const mostPixels = 50_000_000;

const jpegOf = async (picture: Uint8Array, side: number, quality: number) => {
  const sharp = await loadSharp();
  const made = sharp?.(picture, { limitInputPixels: mostPixels })
    .rotate()
    .resize(side, side, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality })
    .toBuffer({ resolveWithObject: true });
  const jpeg = await made?.catch(() => null);
  return jpeg ? { jpeg: new Uint8Array(jpeg.data), width: jpeg.info.width, height: jpeg.info.height } : null;
};

export const previewPictures = async ({ picture, large }: { picture: Uint8Array; large: boolean }): Promise<unknown> => {
  for (const { side, quality } of attempts) {
    const small = await jpegOf(picture, side, quality);
    if (!small) return null;
    if (small.jpeg.length <= smallBytes) return { small: small.jpeg, large: large ? await jpegOf(picture, largeSide, 80) : null };
  }
  return null;
};
