/** Runs the tests of media, files, ports, imports and the comparison with other libraries in one process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/files', 'test/media', 'test/moving', 'test/ports', 'test/second-opinion');
