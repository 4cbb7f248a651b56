/** Overrides the constants of this process with the values in the environment of a test. */
import { changeConstants } from './constants.ts';

changeConstants(process.env);
