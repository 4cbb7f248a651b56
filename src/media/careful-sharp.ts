/** Configures sharp for untrusted pictures: few formats, no cache, and one core for each picture. */
import sharp from 'sharp';

// The pool limits the concurrency, so each picture gets one core. The memory of a picture is freed, and not cached for the next picture.
sharp.concurrency(1);
sharp.cache(false);
// Allows only the listed formats. Formats of drawings and documents can refer to other files, and every further format enlarges the attack surface.
sharp.block({ operation: ['VipsForeignLoad'] });
const formats = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];
sharp.unblock({ operation: formats.map((format) => `VipsForeignLoad${format}`) });

/** The number of pixels for which one pixel of AVIF counts. Measured memory per pixel: 20 bytes for AVIF, at most 6 for the other formats. */
const heifCost = 4;

/** Returns the number of pixels that a picture of this format may have. */
export const mostPixelsOf = (format: string, maxPixels: number): number =>
  format === 'heif' ? Math.floor(maxPixels / heifCost) : maxPixels;

export { sharp };
