/** sharp for pictures of strangers: it opens few formats, remembers nothing, and takes one core for a picture. */
import sharp from 'sharp';

// The pool says how many run at once; memory of one is not kept for the next.
sharp.concurrency(1);
sharp.cache(false);
// Drawings and documents could name other files; formats that nobody sends would only widen what a hostile file can reach.
sharp.block({ operation: ['VipsForeignLoad'] });
const formats = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];
sharp.unblock({ operation: formats.map((format) => `VipsForeignLoad${format}`) });

export { sharp };
