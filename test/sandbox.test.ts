/** The simulated platform and its control interface: their files share a process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/sandbox', 'test/sandbox-control');
