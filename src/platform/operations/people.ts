/** Looks up an address of a person that a request needs and that is not known yet. */
import type { LiveConnection } from '../connection/live-connection.ts';
import { lookUpNumbers } from '../number-lookup.ts';

/** The LID of a number; the platform is asked when it is not known. '' when there is none. */
export const lidOf = async (connection: LiveConnection, pn: string): Promise<string> => {
  const { directory, sock } = connection;
  await connection.learn([pn]);
  if (directory.lid(pn) === '' && pn !== directory.me.pn) await lookUpNumbers(sock, [[pn]]);
  return directory.lid(pn);
};
