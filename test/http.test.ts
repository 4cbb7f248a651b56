/** Runs the tests of the HTTP interface in one process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/http');
