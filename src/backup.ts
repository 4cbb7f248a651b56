/** `npm run backup`: copies the data folder while the gateway runs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSettings } from '#config/load.ts';
import { plainLog, runCommand, showProgress } from './progress.ts';
import { commandLine } from './base/command-line.ts';
import { backUp, sandboxFolder } from './storage/backup/backup.ts';

const usage = `npm run backup -- [--to FOLDER]

Copies the data folder (DATA_DIR) with its database into a folder, which must not hold a backup yet (default: backup).
The gateway may work meanwhile. After an interruption the same command goes on.`;

const { values } = commandLine({ options: { to: { type: 'string', default: 'backup' } } }, usage);
if (values.to === '') {
  process.stderr.write('--to is empty: name the folder of the backup.\n');
  process.exit(2);
}
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
const stages = { database: 'Database', log: 'Log of the database', files: 'Files' } as const;

await runCommand(async (signal) => {
  const { dataDir, databaseUrl, encryptionKey, filesBucket } = loadSettings();
  if (databaseUrl !== null)
    throw new Error(
      'DATABASE_URL is set: back up that server with pg_dump, and copy the data folder beside it (docs/backup.md, "A PostgreSQL server of your own").',
    );
  const show = showProgress();
  const onProgress: typeof show = (stage, progress) => show(stages[stage as keyof typeof stages], progress);
  const { files, began } = await backUp({ dataDir, to: values.to, version, log: plainLog(), signal, onProgress });
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  // A key file beside an ENCRYPTION_KEY is not in use.
  const hasKey = encryptionKey === null && files.some(({ path }) => path === 'encryption.key');
  const keyed = hasKey
    ? 'It holds keys and credentials: store it like a password.'
    : 'No encryption key is in it: keep the ENCRYPTION_KEY of the gateway too.';
  const bucket = filesBucket === null ? '' : ' Files in the bucket are not in it.';
  const sandbox = join(dataDir, sandboxFolder);
  const apart = existsSync(sandbox)
    ? ` The sandbox is not in it; this copies the sandbox: DATA_DIR=${sandbox} npm run backup -- --to FOLDER`
    : '';
  process.stdout.write(`The backup is whole: ${values.to}, ${(bytes / 1e6).toFixed(1)} MB, begun ${began}. ${keyed}${bucket}${apart}\n`);
});
