/** Runs the tests of media, files and ports in one process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/files', 'test/media', 'test/ports');
