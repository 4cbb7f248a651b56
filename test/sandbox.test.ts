/** Runs the tests of the simulated platform in one process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/sandbox', 'test/sandbox-control');
