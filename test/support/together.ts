/**
 * Runs several test files in one process, one after the other, because a small file spends most of its processor time on loading the same modules. Such a
 * file must leave nothing behind in its process. Each file can also run alone. Its name is the title of its suite.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { root } from '#test/source-tree.ts';

/** Returns the files of a folder that run together. Files named `*.long.test.ts` or `*.alone.test.ts` have their own processes. */
export const filesOf = (folder: string): readonly string[] => globSync(`${folder}/**/!(*.long|*.alone).test.ts`, { cwd: root }).toSorted();

/** Declares a suite that loads a test file. */
const load = (file: string) => describe(file, async () => void (await import(join(root, file))));

/** Loads all files of a folder before the first test. The files must open no resources while they load. */
export const runTogether = (folder: string): void => {
  for (const file of filesOf(folder)) void load(file);
};

type Tidy = () => Promise<void>;

/** Functions to call after the last file of `runInTurn`. Null in a process that does not use `runInTurn`. */
let shared: Tidy[] | null = null;
let mustEnd = false;

/** Returns true if this process runs its files with `runInTurn`. */
export const isInTurn = (): boolean => shared !== null;

/** Calls the function after the last test of the process, and before functions that were given earlier. Modules that several test files share use this. */
export const afterLastFile = (tidy: Tidy): void => {
  if (shared) shared.push(tidy);
  else after(tidy);
};

/** Ends the process after its last test. A file calls this in its last hook if a library keeps a timer that cannot be stopped. */
export const endAfterTests = (): void => {
  mustEnd = true;
  // The pause lets the runner end the hooks and report the last test on a busy machine.
  if (!shared) setTimeout(() => process.exit(), 2_000).unref();
};

/**
 * Loads each file after the suite of the file before has ended. A file may open servers and databases while it loads, and those of two files are never open
 * at once. Even if two files wait for the same module, each test belongs to the suite of its own file. The runner calls a hook of the process after the
 * first suite, so shared modules must use `afterLastFile`.
 */
export const runInTurn = async (...folders: readonly string[]): Promise<void> => {
  const tidies: Tidy[] = [];
  shared = tidies;
  // The runner treats a process without open handles as finished.
  const awake = setInterval(() => undefined, 60_000);
  for (const file of folders.flatMap(filesOf)) await load(file);
  for (const tidy of tidies.toReversed()) await tidy();
  clearInterval(awake);
  shared = null;
  if (mustEnd) endAfterTests();
};
