/** Writes a session as a multi-file folder of the client library. */
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeCredentials, encodeKey } from '../platform/keys/key-codec.ts';
import { type FoundSession, SourceFault } from './session.ts';

/** Returns the library's file name of a key. */
const fileOf = (type: string, id: string): string => `${type}-${id.replaceAll('/', '__').replaceAll(':', '-')}.json`;

/** A name that is one folder on any system. */
export const folderName = (name: string): string => {
  const plain = name
    .replaceAll(/[^\p{L}\p{N}._ -]/gu, '-')
    .replace(/^[. ]+/, '')
    .trim();
  return plain === '' ? 'session' : plain.slice(0, 80);
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Writes the folder under a temporary name and gives it its name at the end, so that it is whole or absent. Throws `SourceFault` when something is there
 * already. `used`: names of this export, so that sessions of one name get a number. Resolves with the path.
 */
export const writeFolder = async (session: FoundSession, into: string, used: Set<string>): Promise<string> => {
  const plain = folderName(session.name);
  let name = plain;
  for (let number = 2; used.has(name); number += 1) name = `${plain}-${number}`;
  used.add(name);
  const path = join(into, name);
  if (await exists(path)) throw new SourceFault(`${path} is there already`);
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const write = (file: string, text: string): Promise<void> => writeFile(join(unfinished, file), text, { mode: 0o600, flag: 'wx' });
  for await (const { type, id, value } of session.keys()) await write(fileOf(type, id), encodeKey(value));
  await write('creds.json', encodeCredentials(session.creds));
  await rename(unfinished, path);
  return path;
};
