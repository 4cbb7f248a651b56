/** Runs the tests of imports and of the comparison with other libraries in one process. The quick part leaves them out, because few changes concern them. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/moving', 'test/second-opinion');
