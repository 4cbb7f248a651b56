/** Prepares documents: nothing in them changes. */
import { noFacts, type Maker } from './bench.ts';
import { ownThumbnail } from './pictures.ts';
import { unknownType } from './type-of.ts';

/** Types that say so little that what the caller calls the file says more: a table of numbers is text, an installer is a ZIP. */
const vague: ReadonlySet<string> = new Set([unknownType, 'text/plain', 'application/xml', 'application/zip', 'application/x-cfb']);

/** A media type without what could end a header. */
const wellFormed = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(?:\s*;\s*[\w-]{1,32}=(?:[\w.+-]{1,64}|"[\w .+-]{1,64}"))*$/;

export const documentMaker: Maker = async (file, bench) => {
  const wished = bench.wishes.mimetype?.trim().toLowerCase() ?? '';
  const mimetype = vague.has(file.mimetype) && wellFormed.test(wished) ? wished : file.mimetype;
  return { ...noFacts, path: file.path, size: file.size, mimetype, thumbnail: await ownThumbnail(file, bench) };
};
