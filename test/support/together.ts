/**
 * Files that leave nothing behind in their process run in one process, one after the other: loading the same modules is most of the processor time
 * of a small file. Each runs alone as well, and its name is the title of its suite.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { root } from '#test/source-tree.ts';

/** Lists the files that a process runs for this folder. Slow files and those that are named `alone` have a process of their own. */
export const filesOf = (folder: string): readonly string[] => globSync(`${folder}/**/!(*.long|*.alone).test.ts`, { cwd: root }).toSorted();

/** Runs the file as a suite, which loads it. */
const load = (file: string) => describe(file, async () => void (await import(join(root, file))));

/** Loads all files before the first test. They open no resources while they load, and share resources that a hook of the process closes. */
export const runTogether = (folder: string): void => {
  for (const file of filesOf(folder)) void load(file);
};

type Tidy = () => Promise<void>;

/** Functions to call after the last file of `runInTurn`; null in a process of one file. */
let shared: Tidy[] | null = null;
let mustEnd = false;

/** Returns true in a process of `runInTurn`. */
export const isInTurn = (): boolean => shared !== null;

/** Calls the function after the last test of the process. For modules of the frame that several files share. */
export const afterLastFile = (tidy: Tidy): void => {
  if (shared) shared.push(tidy);
  else after(tidy);
};

/** Ends the process after its last test. A file calls this in its last hook if a library keeps a timer that cannot be stopped. */
export const endAfterTests = (): void => {
  mustEnd = true;
  // The runner ends the hooks and reports the last test meanwhile, which takes its time on a busy machine.
  if (!shared) setTimeout(() => process.exit(), 2_000).unref();
};

/**
 * Loads a file when the suite of the file before has ended. A file may open servers and databases while it loads: those of two files are never open
 * at once, and a test belongs to the suite of its own file where two files wait for the same module. The runner calls a hook of the process
 * after the first suite, so that shared modules use `afterLastFile`.
 */
export const runInTurn = async (...folders: readonly string[]): Promise<void> => {
  const tidies: Tidy[] = [];
  shared = tidies;
  // The runner treats a process without open handles as finished.
  const awake = setInterval(() => undefined, 60_000);
  for (const file of folders.flatMap(filesOf)) await load(file);
  for (const tidy of tidies) await tidy();
  clearInterval(awake);
  shared = null;
  if (mustEnd) endAfterTests();
};
