/** Looks up addresses of people that a request needs and that are not known yet. */
import type { LiveConnection } from '../outbound/live-connection.ts';
import { isPerson } from '../wire/jid.ts';
import { lookUpNumbers } from './number-lookup.ts';

/** Returns the LID of a number, or '' when there is none. Asks the platform when it is not known. '' for every other jid. */
export const lidOf = async (connection: LiveConnection, pn: string): Promise<string> => {
  const { directory, sock } = connection;
  await connection.learn([pn]);
  if (isPerson(pn) && directory.lid(pn) === '' && pn !== directory.me.pn) await lookUpNumbers(sock, [[pn]]);
  return directory.lid(pn);
};

/** Reads the LIDs of these people into the directory. Asks the platform once for all whose LID is not known. Rejects when the platform refuses. */
export const learnLids = async (connection: LiveConnection, jids: readonly string[]): Promise<void> => {
  const { directory, sock } = connection;
  await connection.learn(jids);
  const unknown = jids.filter((jid) => isPerson(jid) && jid !== directory.me.pn && directory.lid(jid) === '');
  if (unknown.length > 0)
    await lookUpNumbers(
      sock,
      unknown.map((pn) => [pn]),
    );
};
