/** The camera's thread: decodes a PNG picture, whose size was checked before, and looks for a QR code in it. */
import jsqr from 'jsqr';
import { PNG } from 'pngjs';

/** A failure is a value, because an error loses its class between threads. */
export type CameraResult = { readonly text: string } | { readonly problem: string };

const decode = (file: Uint8Array): PNG | undefined => {
  try {
    return PNG.sync.read(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  } catch {
    return undefined;
  }
};

const look = (file: Uint8Array): CameraResult => {
  const png = decode(file);
  if (png === undefined) return { problem: 'qrcode is a damaged PNG picture' };
  const found = jsqr.default(new Uint8ClampedArray(png.data.buffer, png.data.byteOffset, png.data.byteLength), png.width, png.height);
  return found?.data ? { text: found.data } : { problem: 'no QR code was found in the picture' };
};

export default look;
