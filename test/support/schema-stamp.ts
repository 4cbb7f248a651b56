/** Returns a fingerprint of the sources that determine a new database. Prepared databases are named after it. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';

export const schemaStamp = (): string => {
  const sources = ['package-lock.json', ...globSync('src/storage/{migrations,postgres}/**/*.ts', { cwd: root })];
  const hash = createHash('sha256');
  for (const path of sources.toSorted()) hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest('hex').slice(0, 16);
};
