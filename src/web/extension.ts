/** The browser extension for accounts with a passkey, as one archive that the dashboard offers. Its files are served as they stand in `extension/`. */
import { readFile } from 'node:fs/promises';
import { zipOf } from './zip.ts';

const names = ['manifest.json', 'panel.js', 'worker.js'] as const;

export const extensionArchive = async (): Promise<Buffer> =>
  zipOf(
    await Promise.all(
      names.map(async (name) => ({
        name: `dormouse-passkey/${name}`,
        bytes: await readFile(new URL(`extension/${name}`, import.meta.url)),
      })),
    ),
  );
