/** The adapter of the platform: its files share a process. */
import { runInTurn } from './support/together.ts';

await runInTurn('test/platform');
