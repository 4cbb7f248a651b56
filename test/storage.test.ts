/** Storage: its files share a process and a server, and each has a database of its own. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/storage');
