/**
 * Files that need the same scene and leave it usable run in one process, one after the other, with one gateway and one platform. A start of these costs
 * two thirds of the processor time of such a file. Each file has instances of its own, and runs alone as well. Its name is the title of its suite.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { root } from '#test/source-tree.ts';
import { Scene } from './scene.ts';

/** Runs the files of this folder. Files with restarts keep their own gateway when the shared one would lose what the tests count. */
export const runTogether = (folder: string): void => {
  Scene.keep();
  after(() => Scene.closeKept());
  for (const file of globSync(`${folder}/*.test.ts`, { cwd: root }).toSorted())
    describe(file, async () => void (await import(join(root, file))));
};
