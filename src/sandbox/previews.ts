/** Small previews of profile pictures. They are made when somebody downloads them. */
import { readFile } from 'node:fs/promises';

/** Width and height, in pixels. */
const side = 96;
const mark = `dst-jpg_s${side}x${side}`;

/** The direct path of the preview of a picture. */
export const previewOf = (directPath: string): string => `${directPath}&stp=${mark}`;

export const isPreview = (url: URL): boolean => url.searchParams.get('stp') === mark;

/** The preview as a JPEG. A file that is no picture is its own preview. */
export async function makePreview(file: string): Promise<Buffer> {
  const bytes = await readFile(file);
  const { default: sharp } = await import('sharp');
  return sharp(bytes)
    .resize(side, side, { fit: 'cover' })
    .jpeg()
    .toBuffer()
    .catch(() => bytes);
}
