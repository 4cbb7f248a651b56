/** Archives that `npm run export` of this gateway makes. */
import { createReadStream } from 'node:fs';
import { openLines } from '../archive.ts';
import { sessionsIn } from '../archived.ts';
import { type Found, type Reader, SourceFault, type SourceOptions } from '../session.ts';
import { neededPath } from './folder.ts';

const read = (options: SourceOptions): AsyncIterable<Found> => {
  const path = neededPath(options);
  if (options.secret === null) throw new SourceFault('The passphrase of the archive is missing');
  return sessionsIn(openLines(createReadStream(path, { signal: options.signal }), options.secret));
};

export const archiveReader: Reader = {
  title: 'an archive of another Dormouse (npm run export)',
  examples: ['npm run import -- --from dormouse --path ./sessions.dormouse'],
  upload: { kind: 'file', takes: 'an archive that Dormouse exported' },
  read,
};
