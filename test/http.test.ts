/** The HTTP surface: its files share a process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/http');
