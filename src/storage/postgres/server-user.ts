/**
 * The user as which the embedded server runs when root starts the gateway: PostgreSQL refuses to run as root. Processes of the same user could read the
 * data through `/proc`, so the server gets an id that nobody else has. No user is created: that would change the machine for good.
 */
import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';

/** Null when this process is no root and simply runs the server as itself. */
export type ServerUser = { readonly uid: number; readonly gid: number } | null;

/** Ids that no distribution gives to a user (`60706-61183` in the table of systemd). Containers map them, unlike ids above 65,535. */
const firstId = 60_706;
const lastId = 61_183;

/** Accounts that services share; earlier versions ran the server as one of them. */
const shared: ReadonlySet<string> = new Set(['postgres', 'nobody']);

/** Accounts that run nothing on most machines, the best first. `initdb` refuses an id without a name. */
const dormant = ['games', 'uucp', 'news', 'lp', 'sync', 'bin', 'mail', 'postgres', 'nobody'];

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const accounts = async (): Promise<readonly Account[]> =>
  (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name = '', , uid = '', gid = '']) => (uid === '' ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]));

const processes = async (): Promise<readonly string[]> => (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));

/** Ids of users that run something now. */
const busyIds = async (): Promise<ReadonlySet<number>> => {
  const owners = await Promise.all((await processes()).map((pid) => stat(`/proc/${pid}`).catch(() => null)));
  return new Set(owners.flatMap((owner) => (owner === null ? [] : [owner.uid])));
};

/** True if a process works inside the folder: the server that outlived its gateway, or one of its backends. */
const isInUse = async (folder: string): Promise<boolean> => {
  const path = await realpath(folder).catch(() => folder);
  const folders = await Promise.all((await processes()).map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return folders.includes(path);
};

/** An id without a name and without a process. */
const freeId = async (): Promise<number> => {
  const [named, busy] = await Promise.all([accounts(), busyIds()]);
  const taken = new Set([...named.flatMap(({ uid, gid }) => [uid, gid]), ...busy]);
  for (let id = firstId; id <= lastId; id += 1) if (!taken.has(id)) return id;
  throw new Error(`The embedded PostgreSQL server needs a user id of its own, and ${firstId} to ${lastId} are taken: set DATABASE_URL.`);
};

/** The owner of existing data, unless it is a shared account and no server runs: then the data goes to an id of its own. */
export const serverUser = async (dataFolder: string): Promise<ServerUser> => {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(dataFolder).catch(() => null);
  if (owner !== null && owner.uid !== 0) {
    const isShared = (await accounts()).some(({ name, uid }) => uid === owner.uid && shared.has(name));
    if (!isShared || (await isInUse(dataFolder))) return { uid: owner.uid, gid: owner.gid };
  }
  const id = await freeId();
  return { uid: id, gid: id };
};

/** The account as which `initdb` makes the folder, before the folder gets its owner: one that runs nothing now. */
export const initUser = async (): Promise<ServerUser> => {
  if (process.getuid?.() !== 0) return null;
  const [named, busy] = await Promise.all([accounts(), busyIds()]);
  const known = dormant.flatMap((name) => named.filter((one) => one.name === name && one.uid !== 0));
  const found = known.find(({ uid }) => !busy.has(uid)) ?? known[0];
  if (found === undefined) throw new Error('The embedded PostgreSQL server cannot be made by root alone: set DATABASE_URL.');
  return { uid: found.uid, gid: found.gid };
};
