/** Counts arrivals in this process: their number, times and delays. The processes at the far end of a bench load this file. */
import { answer } from './probe.ts';

/** Returns the Unix time in milliseconds with fractions. It is comparable between the processes of one machine. */
export const now = (): number => performance.timeOrigin + performance.now();

export interface Arrivals {
  readonly count: number;
  /** The times of the first and the last arrival, in Unix milliseconds. */
  readonly first: number;
  readonly last: number;
}

/** Returns a text with the time of sending. A JSON body may have the text as a field. */
export const sentAt = (at: number): string => `sent at ${at.toFixed(3)}`;
const moment = /(?:"at":|sent at )([\d.]+)/;

/** The delays of the arrivals. In milliseconds. */
let late: number[] = [];
let [first, last] = [0, 0];

export const arrived = (text: string): void => {
  last = now();
  if (late.length === 0) first = last;
  late.push(last - Number(moment.exec(text)?.[1] ?? NaN));
};

answer('reset', () => {
  late = [];
  [first, last] = [0, 0];
});
answer('received', (): Arrivals => ({ count: late.length, first, last }));
answer('late', () => late);
