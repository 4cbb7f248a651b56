/** Runs the tests of the storage in one process with one server. Each file has a database of its own. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/storage');
