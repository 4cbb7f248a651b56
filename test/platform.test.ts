/** Runs the tests of the platform adapter in one process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/platform');
