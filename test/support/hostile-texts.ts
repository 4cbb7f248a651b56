/** Searches for texts on which a regular expression takes more than linear time, by running it. It serves expressions that static analysis cannot judge. */

/** The length of the searched texts. A linear expression takes about 8 µs for such a text, and a rejected expression at least 0.18 ms. */
const searched = 2_000;
const suspiciousMs = 0.12;
/** The length of the texts that confirm a suspicion, and the time limit for them. A stored text has at most 65,536 characters. */
const confirmed = 30_000;
const slowMs = 40;

/** Returns the parts of the searched texts: words and punctuation of the expression, and one character of each common class. */
export function piecesOf(source: string): readonly string[] {
  const plain = source
    .replaceAll(/\\[bBdDsSwW]|\\u\{?[0-9A-Fa-f]+\}?|\{\d+,?\d*\}|\(\?<?[:=!]?/g, ' ')
    .replaceAll(/[[\]()^$|?+]|(?<!\\)[*.]/g, ' ')
    .replaceAll('\\n', '\n')
    .replaceAll(/\\(.)/g, '$1');
  const words = plain.split(' ').filter((word) => word !== '');
  const pieces = [...words, ...words.flatMap((word) => [...word].slice(0, 2)), ' ', 'a', '0', '\n', '-'];
  return [...new Set(pieces)].slice(0, 14);
}

const repeated = (pump: string, length: number): string => pump.repeat(Math.ceil(length / pump.length));

/** Returns the shortest time of several runs over all positions of the text, as in `replaceAll`. */
const timeOf = (expression: RegExp, text: string, tries: number): number => {
  let best = Infinity;
  for (let at = 0; at < tries; at += 1) {
    const start = performance.now();
    text.replaceAll(expression, '');
    best = Math.min(best, performance.now() - start);
  }
  return best;
};

/** Generates texts that repeat up to three parts, with any part before them and a character at the end that may prevent the match. */
function* attacks(pieces: readonly string[]): Generator<(length: number) => string> {
  const some = ['', ...pieces];
  const pumps = new Set(some.flatMap((one) => some.flatMap((two) => pieces.map((three) => one + two + three))));
  for (const pump of pumps)
    for (const prefix of some) for (const suffix of ['', '\n', '\0']) yield (length) => prefix + repeated(pump, length) + suffix;
}

/** Returns the shortened form of a text on which the expression is slow, or null if no such text is found. */
export function hostileText(source: string, flags: string): string | null {
  const expression = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  for (const attack of attacks(piecesOf(source))) {
    if (timeOf(expression, attack(searched), 1) < suspiciousMs || timeOf(expression, attack(searched), 3) < suspiciousMs) continue;
    if (timeOf(expression, attack(confirmed), 2) > slowMs) return JSON.stringify(attack(40));
  }
  return null;
}
