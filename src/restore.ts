/** `npm run restore`: makes a data folder from a backup. */
import { loadSettings } from '#config/load.ts';
import { plainLog, runCommand, showProgress } from './progress.ts';
import { commandLine } from './base/command-line.ts';
import { restore } from './storage/backup/restore.ts';

const usage = `npm run restore -- [--from FOLDER] [--to FOLDER]

Makes a data folder (default: DATA_DIR) of a backup (default: backup), checks every file, and starts the database once.
The folder must not hold a database. After an interruption the same command goes on.`;

const { values } = commandLine({ options: { from: { type: 'string', default: 'backup' }, to: { type: 'string' } } }, usage);

if (values.to === '') {
  process.stderr.write('--to is empty: name the folder to be made.\n');
  process.exit(2);
}

/** Returns the data folder of the settings. Throws an error with a text for the operator if the gateway would not use a database in this folder. */
const usualFolder = (): string => {
  const { dataDir, databaseUrl } = loadSettings();
  if (databaseUrl === null) return dataDir;
  throw new Error(
    'DATABASE_URL is set: the gateway would not use the restored database. Name the folder with --to, or remove the setting.',
  );
};

await runCommand(async (signal) => {
  const to = values.to ?? usualFolder();
  const show = showProgress();
  const onProgress = (progress: Parameters<typeof show>[1]): void => show('Files', progress);
  const { list, instances } = await restore({ from: values.from, dataDir: to, log: plainLog(), signal, onProgress });
  process.stdout.write(
    `Restored to ${to}: ${instances} instances, as of ${list.ended}. Stop the gateway that the backup is of before this one starts.\n`,
  );
});
