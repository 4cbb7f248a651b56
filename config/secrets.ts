/** Finds the data folder and the key that encrypts credentials at rest, or makes them at the first start. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '#src/base/make-folder.ts';
import { secretKey } from './kinds.ts';

/** Returns the missing target of a symbolic link; null if the path is no such link, or if the target exists. */
const lostTarget = (path: string): string | null => {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path) ? readlinkSync(path) : null;
  } catch {
    return null;
  }
};

/** Returns the reason why the folder cannot be used, with a remedy. */
const hindrance = (path: string, code: string): string => {
  const elsewhere = 'set DATA_DIR to another folder';
  const target = lostTarget(path);
  if (target !== null) return `the data folder ${path} is a link to ${target}, which is not there: make that folder, or ${elsewhere}`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk is full (${code}): free some room on the disk of ${path}, or ${elsewhere}`;
  if (code === 'EEXIST' || code === 'ENOTDIR') return `the data folder ${path}, or a folder above it, is a file (${code}): ${elsewhere}`;
  if (code === 'EROFS') return `the data folder ${path} is on a file system that is read-only (EROFS): ${elsewhere}`;
  const refused = `the data folder ${path} cannot be made or written (${code})`;
  if (code === 'EACCES' || (code === 'EPERM' && process.geteuid?.() !== 0))
    return `${refused}: give it to the user ${process.geteuid?.() ?? 'of this process'} (mkdir -p, chown), or ${elsewhere}`;
  return `${refused}: ${elsewhere}`;
};

/**
 * Makes the folder with mode 0700 if it is missing, and returns its absolute path. A folder that exists keeps its mode. Throws an error whose message
 * is for the operator.
 */
export const openDataDir = (dataDir: string): string => {
  const path = resolve(dataDir);
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK);
    // Only an attempt shows whether the effective user and the file system permit a write.
    rmdirSync(mkdtempSync(join(path, '.writable-')));
  } catch (cause) {
    throw new Error(hindrance(path, (cause as NodeJS.ErrnoException).code ?? String(cause)), { cause });
  }
  return path;
};

/**
 * Writes a new key to a temporary file, and links the complete file to `path`. A crash leaves no partial key at `path`. If two processes make a key at the same
 * time, both use the key of the first one.
 */
const makeKey = (path: string): void => {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
};

const readIfThere = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
};

/** Returns the key of 32 bytes: the configured key, or the key in `<data folder>/encryption.key`. A missing file is made with mode 0600. */
export const encryptionKey = (settings: { readonly encryptionKey: Uint8Array | null; readonly dataDir: string }): Uint8Array => {
  if (settings.encryptionKey !== null) return settings.encryptionKey;
  const path = join(openDataDir(settings.dataDir), 'encryption.key');
  if (readIfThere(path) === null) makeKey(path);
  const key = secretKey.parse(readFileSync(path, 'utf8').trim());
  if (!key)
    throw new Error(`${path} does not hold a key of 32 bytes: restore the right key, because a new key cannot read the stored credentials`);
  return key;
};
