/** What the camera's thread does: takes the file of a PNG picture apart and looks for a QR code. Its size was checked before. */
import jsqr from 'jsqr';
import { PNG } from 'pngjs';

/** A failure crosses the thread as a value: an error would lose its class there. */
export type Sight = { readonly text: string } | { readonly problem: string };

const decode = (file: Uint8Array): PNG | undefined => {
  try {
    return PNG.sync.read(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  } catch {
    return undefined;
  }
};

const look = (file: Uint8Array): Sight => {
  const png = decode(file);
  if (png === undefined) return { problem: 'qrcode is a damaged PNG picture' };
  const found = jsqr.default(new Uint8ClampedArray(png.data.buffer, png.data.byteOffset, png.data.byteLength), png.width, png.height);
  return found?.data ? { text: found.data } : { problem: 'no QR code was found in the picture' };
};

export default look;
