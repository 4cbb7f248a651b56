/** What runs in the threads of the pool: one exported function per task. It must load fast, so that it imports nothing of the program. */
import { generateKeyPairSync } from 'node:crypto';
import { move } from 'piscina';
import QRCode from 'qrcode';

/** Level L and a quiet zone of four modules: what phones expect, with the largest modules. */
export const qrPng = (text: string): Promise<string> => QRCode.toDataURL(text, { errorCorrectionLevel: 'L', margin: 4, scale: 6 });

/** The raw key is the end of both encodings (RFC 8410). */
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

/** An installation may lack the binary for its platform: then pictures have no thumbnails, and nothing else changes. */
const loadSharp = () =>
  import('sharp').then(
    ({ default: sharp }) => sharp,
    () => null,
  );

/** From good to small; the first result that fits is taken. */
const attempts = [
  { side: 320, quality: 70 },
  { side: 240, quality: 55 },
  { side: 160, quality: 45 },
  { side: 96, quality: 30 },
] as const;

export const thumbnail = async ({ picture, maxBytes }: { picture: Uint8Array; maxBytes: number }): Promise<unknown> => {
  const sharp = await loadSharp();
  for (const { side, quality } of sharp ? attempts : []) {
    const jpeg = await sharp?.(picture, { limitInputPixels: 50_000_000 })
      .rotate()
      .resize(side, side, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: 'white' })
      .jpeg({ quality })
      .toBuffer()
      .catch(() => null);
    if (!jpeg) return null;
    if (jpeg.length <= maxBytes) return move(new Uint8Array(jpeg));
  }
  return null;
};
