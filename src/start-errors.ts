/** Errors that end a start, in words for operators. */
import { createServer } from 'node:net';
import type { Settings } from '#config/load.ts';
import { shownAddress } from './storage/postgres/shown-address.ts';

type Address = Pick<Settings, 'host' | 'port'>;

/** Returns an error that names the setting to change if the gateway cannot listen on the address. Returns other errors unchanged. */
export const listenError = (error: NodeJS.ErrnoException, { host, port }: Address): Error => {
  if (error.code === 'EADDRINUSE') return new Error(`port ${port} of ${host} is taken: set PORT to a free one`, { cause: error });
  if (error.code === 'EACCES') return new Error(`port ${port} of ${host} needs more rights: set PORT to 1024 or more`, { cause: error });
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
    return new Error(`the name ${host} has no address (${error.code}): set HOST to an address of this machine`, { cause: error });
  if (error.code === 'EADDRNOTAVAIL')
    return new Error(`${host} is no address of this machine (EADDRNOTAVAIL): set HOST to one, such as 127.0.0.1`, { cause: error });
  return error;
};

/** Listens briefly on the address. A start that cannot listen must fail before it creates a database. Rejects with a text for the operator. */
export const checkAddress = async ({ host, port }: Address): Promise<void> => {
  const probe = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  probe.once('error', (error) => reject(listenError(error, { host, port })));
  probe.listen({ host, port }, () => probe.close(() => resolve()));
  await promise;
};

/**
 * Returns the words for an error that ends a start. A full disk is named first, because the database mentions it only in the middle of its
 * text.
 */
export const startError = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error';
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC' || /No space left on device/.test(error.message);
  return `${isFull && !error.message.startsWith('the disk is full') ? 'the disk is full. ' : ''}${error.message}`;
};

/**
 * Adds the address of a given database and the name of its setting to an error. The error of an embedded server already names its folder.
 */
export const databaseError = (error: unknown, { databaseUrl }: Settings): unknown => {
  if (databaseUrl === null || !(error instanceof Error)) return error;
  return new Error(`${error.message} (DATABASE_URL is ${shownAddress(databaseUrl)})`, { cause: error });
};

/** The platform of a database: WhatsApp, or the simulated one of `npm run sandbox`, which listens on loopback. */
export type PlatformKind = 'real' | 'simulated';

/** Returns the error of a start against the other kind of platform. `linked`: the kind with which the sessions of the database are linked. */
export const otherPlatformError = (linked: PlatformKind, { dataDir, databaseUrl }: Pick<Settings, 'dataDir' | 'databaseUrl'>): Error => {
  const isEmbedded = databaseUrl === null;
  const [noun, setting] = isEmbedded ? ['data folder', 'DATA_DIR'] : ['database', 'DATABASE_URL'];
  const sessions = `the sessions in the ${noun} ${isEmbedded ? dataDir : shownAddress(databaseUrl)} are linked with`;
  return new Error(
    linked === 'simulated'
      ? `${sessions} a simulated platform, and PLATFORM_URL names the real one, which would end them: start this ${noun} with \`npm run sandbox\`, ` +
          `or set ${setting} to another one. To use it with the real platform, first disconnect all its sessions in the sandbox`
      : `${sessions} the real platform, and PLATFORM_URL names a simulated one, which would end them: start this ${noun} with \`npm start\`, ` +
          `or set ${setting} to another one for \`npm run sandbox\``,
  );
};
