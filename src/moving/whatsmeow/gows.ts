/** WAHA with its engine GOWS. Each session has a database of whatsmeow and a configuration. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { foldersIn } from '../readers/folder.ts';
import { configIn, nameOf, sessionDatabases, wahaSettings } from '../readers/waha.ts';
import { type CarriedSettings, type Found, type Reader, SourceFault, type SourceOptions } from '../session.ts';
import { foundDevice, numberOf } from './found.ts';
import { WhatsmeowStore, withDatabases } from './store.ts';

const databaseFile = 'gows.db';

/** A session before its database is opened. */
interface UnopenedSession {
  /** The name of the session. '' for a file with another name than `gows.db`. The number of the device then becomes the name of the session. */
  readonly name: string;
  /** A path, or the address of a database. */
  readonly database: string;
  settings(): Promise<CarriedSettings>;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

const sessionIn = (folder: string, file = join(folder, databaseFile)): UnopenedSession => ({
  name: basename(file) === databaseFile ? nameOf(basename(folder)) : '',
  database: file,
  settings: async () => wahaSettings(await configIn(folder)),
});

/** Finds sessions in `.sessions`, in `.sessions/gows`, in the folder of one session, or in a single database file. */
async function* sessionsIn(path: string): AsyncIterable<UnopenedSession> {
  if (await isFile(path)) return yield sessionIn(dirname(path), path);
  if (await isFile(join(path, databaseFile))) return yield sessionIn(path);
  const names = await foldersIn(path);
  const base = names.includes('gows') ? join(path, 'gows') : path;
  let found = 0;
  for (const name of await foldersIn(base)) {
    if (!(await isFile(join(base, name, databaseFile)))) continue;
    found += 1;
    yield sessionIn(join(base, name));
  }
  if (found === 0) throw new SourceFault(`No folder with a file ${databaseFile} is there`);
}

async function* sessionsOn(url: string, signal: AbortSignal): AsyncIterable<UnopenedSession> {
  for await (const { name, url: database, config } of sessionDatabases(url, 'waha_gows_', signal))
    yield { name, database, settings: async () => wahaSettings(config) };
}

const devicesOf = ({ name, database, settings }: UnopenedSession, signal: AbortSignal): AsyncIterable<Found> =>
  withDatabases(signal, async function* (open) {
    const store = new WhatsmeowStore(await open(database));
    const devices = await store.devices();
    const around = { settings: await settings() };
    if (devices.length === 0) yield { found: 'refused', name, reason: 'the session has no linked phone' };
    // GOWS uses the first device. The other devices are left from former pairings.
    for (const [at, device] of devices.entries())
      yield await foundDevice(store, device, { ...around, name: at === 0 && name !== '' ? name : `${name} ${numberOf(device)}`.trim() });
  });

async function* read({ url, path, signal }: SourceOptions): AsyncIterable<Found> {
  if (url === null && path === null) throw new SourceFault('--path or --url is missing: one of them names the sessions of WAHA');
  for await (const session of url === null ? sessionsIn(resolve(path ?? '')) : sessionsOn(url, signal)) {
    signal.throwIfAborted();
    try {
      yield* devicesOf(session, signal);
    } catch (error) {
      // The other sessions have databases of their own, so they can still be read. A single file is the whole source, so its fault ends the read.
      if (!(error instanceof SourceFault) || session.name === '') throw error;
      yield { found: 'refused', name: session.name, reason: error.message };
    }
  }
}

export const gowsReader: Reader = {
  title: 'WAHA with the engine GOWS: folders or PostgreSQL',
  examples: [
    'npm run import -- --from waha-gows --path ./.sessions',
    'npm run import -- --from waha-gows --url postgres://user:password@host/postgres',
  ],
  upload: { kind: 'either', takes: 'a file gows.db, or a tar archive of the folder .sessions' },
  read,
};
