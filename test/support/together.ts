/**
 * Files that leave nothing behind in their process run in one process, one after the other: loading the same modules is most of the processor time
 * of a small file. Each runs alone as well, and its name is the title of its suite.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { root } from '#test/source-tree.ts';

/** Lists the files that a process runs for this folder; slow files have a process of their own. */
export const filesOf = (folder: string): readonly string[] => globSync(`${folder}/**/!(*.long).test.ts`, { cwd: root }).toSorted();

export const runTogether = (folder: string): void => {
  for (const file of filesOf(folder)) describe(file, async () => void (await import(join(root, file))));
};
