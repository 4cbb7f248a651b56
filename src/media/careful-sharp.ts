/** sharp for untrusted pictures: it opens few formats, caches nothing, and takes one core for a picture. */
import sharp from 'sharp';

// The pool limits the concurrency. The memory of one picture is not kept for the next.
sharp.concurrency(1);
sharp.cache(false);
// Drawings and documents could name other files. Unused formats would only enlarge the attack surface.
sharp.block({ operation: ['VipsForeignLoad'] });
const formats = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];
sharp.unblock({ operation: formats.map((format) => `VipsForeignLoad${format}`) });

export { sharp };
