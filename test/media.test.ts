/** Media, files, the suites of ports, sessions that move, and the second opinion on the library: their files share a process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/files', 'test/media', 'test/moving', 'test/ports', 'test/second-opinion');
