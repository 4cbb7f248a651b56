/** Runs the tests of the actors in one process. They use a simulated clock, and no file, socket or process. */
import { runTogether } from './support/together.ts';

runTogether('test/actors');
