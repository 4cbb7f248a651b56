/** The actors: their tests touch neither the machine nor the clock, and share a process. */
import { runTogether } from './support/together.ts';

runTogether('test/actors');
