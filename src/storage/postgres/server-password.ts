/**
 * The password of the embedded server. It is created once, stored beside the data, and required for every connection. Other users cannot access the
 * folder of the socket. The password also keeps out a process that reaches the socket in another way.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { chown, link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#actors/ports.ts';
import { createOrm, poolOf } from './orm.ts';

/** A running server. */
interface GuardedServer {
  /** Its data folder. */
  readonly data: string;
  readonly pid: number;
  /** The path by which this process reaches the folder of the server's socket. */
  readonly socket: string;
}

const accessOf = (method: 'trust' | 'scram-sha-256'): string =>
  `# Written by the gateway. The password is in the file password of the folder above; without that file the next start makes a new one.\nlocal all all ${method}\n`;

/** Time limit for the server to reload its access rules. In milliseconds. */
const reloadLimit = 10_000;
const pause = 20;
const tries = 5;

export const urlOf = (socket: string, password: string): string =>
  `postgresql://postgres:${encodeURIComponent(password)}@localhost/postgres?host=${encodeURIComponent(socket)}`;

/** Returns the SCRAM verifier that the server stores (RFC 5803), so that no statement contains the password. */
export const verifierOf = (password: string, salt: Uint8Array = randomBytes(16), iterations = 4_096): string => {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest();
  const encoded = [Buffer.from(salt), stored, keyOf('Server Key')].map((bytes) => bytes.toString('base64'));
  return `SCRAM-SHA-256$${iterations}:${encoded[0]}$${encoded[1]}:${encoded[2]}`;
};

const readIfThere = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

/** Returns an unused name in the same folder. */
const besides = (path: string): string => `${path}.${randomBytes(6).toString('hex')}`;

/** Creates the password. The complete file is linked into place, so that two processes both get the password of the first one. */
const makePassword = async (path: string): Promise<void> => {
  const unfinished = besides(path);
  await writeFile(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    await link(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
};

/** Returns true if every connection over the socket needs a password. */
const isGuarded = (access: string | null): boolean => {
  const rules = (access ?? '').split('\n').filter((line) => !line.trim().startsWith('#'));
  return rules.some((line) => /^local\s+all\s+all\s+scram-sha-256$/.test(line.trim())) && !rules.some((line) => /\strust\s*$/.test(line));
};

/**
 * Runs a statement over a connection with an invalid password. A driver without any password would not answer a server that asks for one. The server
 * would then wait for a minute, and no database could be dropped meanwhile.
 */
const withoutPassword = async (socket: string, log: Log, text = 'select 1'): Promise<void> => {
  const pool = await poolOf(await createOrm(urlOf(socket, 'none'), log, { max: 1 }));
  try {
    const client = await pool.connect();
    try {
      await client.query({ text });
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
};

/** Waits until the server accepts connections without a password (`expected` is true), or until it refuses them (`expected` is false). */
const untilLetIn = async (expected: boolean, socket: string, log: Log): Promise<void> => {
  for (const deadline = Date.now() + reloadLimit; ; await wait(pause)) {
    const letIn = await withoutPassword(socket, log).then(
      () => true,
      () => false,
    );
    if (letIn === expected) return;
    if (Date.now() > deadline) throw new Error('The embedded PostgreSQL server did not read its rules for connections again.');
  }
};

/** Replaces a file as a whole, because the server does not start with an empty file. The owner of the file stays the same. */
const replace = async (file: string, text: string): Promise<void> => {
  const { uid, gid } = await stat(file);
  const next = besides(file);
  await writeFile(next, text, { mode: 0o600, flush: true });
  if (process.getuid?.() === 0) await chown(next, uid, gid);
  await rename(next, file);
};

const setPassword = async (password: string, { data, pid, socket }: GuardedServer, log: Log): Promise<void> => {
  const file = join(data, 'pg_hba.conf');
  const allow = async (method: 'trust' | 'scram-sha-256'): Promise<void> => {
    await replace(file, accessOf(method));
    process.kill(pid, 'SIGHUP');
    await untilLetIn(method === 'trust', socket, log);
  };
  await allow('trust');
  await withoutPassword(socket, log, `alter role postgres password '${verifierOf(password)}'`);
  await allow('scram-sha-256');
};

/** Sets the password, and retries after an error. Another process may change the role or the rules at the same time. */
const setPatiently = async (password: string, server: GuardedServer, log: Log): Promise<void> => {
  for (let left = tries; ; left -= 1) {
    try {
      return await setPassword(password, server, log);
    } catch (error) {
      if (left <= 1) throw error;
      await wait(pause);
    }
  }
};

/**
 * Ensures that connections need a password, and returns the connection string with the password. `root`: the folder above the data. Data without a known
 * password, such as data of an earlier version, gets a new password. Meanwhile only the owner of the folder can reach the socket.
 */
export const guardServer = async (root: string, server: GuardedServer, log: Log): Promise<string> => {
  const path = join(root, 'password');
  const isKept = (await readIfThere(path)) !== null;
  if (!isKept) await makePassword(path);
  const password = (await readFile(path, 'utf8')).trim();
  const isDone = isKept && isGuarded(await readIfThere(join(server.data, 'pg_hba.conf')));
  if (!isDone) await setPatiently(password, server, log);
  return urlOf(server.socket, password);
};
