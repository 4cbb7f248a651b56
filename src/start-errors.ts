/** Errors that end a start, in words for somebody who only wants to start the server. */
import type { Settings } from '#config/load.ts';
import { shownAddress } from './storage/postgres/shown-address.ts';

/** A port that is taken or not allowed. Other errors stay as they are. */
export const listenError = (error: NodeJS.ErrnoException, { host, port }: Settings): Error => {
  if (error.code === 'EADDRINUSE') return new Error(`port ${port} of ${host} is taken: set PORT to a free one`, { cause: error });
  if (error.code === 'EACCES') return new Error(`port ${port} of ${host} needs more rights: set PORT to 1024 or more`, { cause: error });
  return error;
};

/** Names the address of a given database and its setting. An embedded server names its folder. */
export const databaseError = (error: unknown, { databaseUrl }: Settings): unknown => {
  if (databaseUrl === null || !(error instanceof Error)) return error;
  return new Error(`${error.message} (DATABASE_URL is ${shownAddress(databaseUrl)})`, { cause: error });
};
