/** The attempts of a delivery as text. Every delivered row has such a text, so it has arrays without names: 30 bytes for one success. */
import type { Try } from '#actors/model.ts';

/** A success ends with its status. The answer is left out where there is none. */
type Kept = readonly [at: number, ms: number, status: number, error?: string, answer?: string];

const keptOf = ({ at, ms, status, error, answer }: Try): Kept =>
  answer === undefined ? (error === '' ? [at, ms, status] : [at, ms, status, error]) : [at, ms, status, error, answer];

export const triesText = (tries: readonly Try[] = []): string => (tries.length === 0 ? '' : JSON.stringify(tries.map(keptOf)));

/** Returns no field for a row without attempts. */
export const triesOf = (text: string): { tries?: readonly Try[] } => {
  if (text === '') return {};
  const kept = JSON.parse(text) as readonly Kept[];
  return {
    tries: kept.map(([at, ms, status, error = '', answer]) => ({ at, ms, status, error, ...(answer === undefined ? {} : { answer }) })),
  };
};
