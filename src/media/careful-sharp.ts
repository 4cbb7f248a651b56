/** Configures sharp for untrusted pictures: few formats, no cache, and one core for each picture. */
import sharp from 'sharp';

// The pool limits the concurrency, so each picture gets one core. The memory of one picture is not kept for the next.
sharp.concurrency(1);
sharp.cache(false);
// Formats of drawings and documents can refer to other files. Unused formats would enlarge the attack surface.
sharp.block({ operation: ['VipsForeignLoad'] });
const formats = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];
sharp.unblock({ operation: formats.map((format) => `VipsForeignLoad${format}`) });

export { sharp };
