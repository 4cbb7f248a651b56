/** Runs the tests of the actors in one process. They touch neither the machine nor its clock. */
import { runTogether } from './support/together.ts';

runTogether('test/actors');
