/** Runs the tests of limits on counts, sizes and rates. The files of the folder share a process, and a gateway if their settings agree. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep({ LOOKUP_EVERY_MS: '1' });
runTogether('test/e2e/together/paces');
