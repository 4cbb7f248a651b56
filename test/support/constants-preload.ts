/** Gives the constants of this process the values that a test put into its environment. */
import { changeConstants } from './constants.ts';

changeConstants(process.env);
