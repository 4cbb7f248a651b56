/** Draws the last hour of an instance as 24 letters, derived from its steps. */
import type { Steps } from '../session/steps.ts';

/**
 * Letters in ascending rank. Each part shows the highest letter. `p`: needs a person. `w`: connecting. `d`: disconnected. `c`: connected. `h`:
 * hibernated. `.`: unknown, because the process or the oldest kept step is newer.
 */
const order = '.hcdwp';
const partMs = 150_000;
const parts = 24;

/** Longest wake of a hibernated session that is not shown as `connecting`. In milliseconds. */
const shortWakeMs = 10_000;

/** True for states that only a person can end. */
export const needsPerson = (state: string): boolean =>
  state === 'disconnected.refused' || state === 'disconnected.loggedOut' || state === 'failed';

const tops: Readonly<Record<string, string>> = { connected: 'c', connecting: 'w', hibernated: 'h', crashed: 'w', beginning: '.' };

export const letterOf = (state: string): string => {
  if (needsPerson(state)) return 'p';
  return tops[state.split('.')[0] ?? ''] ?? 'd';
};

interface Span {
  letter: string;
  from: number;
  to: number;
}

const rootLetters: Readonly<Record<string, string>> = { recovering: 'w', deciding: 'w', restarting: 'w', failed: 'p', stopped: 'd' };

/** Returns spans, newest first. Adjacent spans with the same letter are merged. */
const spansOf = (steps: Steps, since: number, now: number): readonly Span[] => {
  const spans: Span[] = [];
  const add = (letter: string, from: number, to: number): void => {
    const last = spans.at(-1);
    if (last?.letter === letter) last.from = from;
    else spans.push({ letter, from, to });
  };
  let end = now;
  let before = '.';
  for (const { at, chart, from, to } of steps.backwards()) {
    const letter = chart === 'lifecycle' ? letterOf(to) : rootLetters[to];
    if (letter === undefined) continue; // The root runs, so the chart of the session has the state.
    add(letter, at, end);
    end = at;
    before = chart === 'lifecycle' ? letterOf(from) : (rootLetters[from] ?? '.');
    if (at < since) return spans;
  }
  add(before, since, end);
  return spans;
};

const isShortWake = ({ letter, from, to }: Span, earlier: Span | undefined): boolean =>
  letter === 'w' && earlier?.letter === 'h' && to - from < shortWakeMs;

const drawn = (spans: readonly Span[], start: number): string => {
  const ranks = Array.from({ length: parts }, () => 0);
  for (const [index, span] of spans.entries()) {
    if (isShortWake(span, spans[index + 1])) continue;
    const first = Math.max(0, Math.floor((span.from - start) / partMs));
    const last = Math.min(parts - 1, Math.floor((span.to - start) / partMs));
    for (let part = first; part <= last; part += 1) ranks[part] = Math.max(ranks[part] ?? 0, order.indexOf(span.letter));
  }
  return ranks.map((rank) => order[rank]).join('');
};

export function hourOf(steps: Steps, now: number): string {
  const start = now - parts * partMs;
  return drawn(spansOf(steps, start, now), start);
}

/** Returns the stripe of an instance that has rested since the start of the process. */
export const restingHour = (letter: string, since: number, now: number): string =>
  drawn([{ letter, from: Math.max(since, now - parts * partMs), to: now }], now - parts * partMs);
