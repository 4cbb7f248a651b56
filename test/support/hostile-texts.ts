/** Searches texts on which a regular expression takes more than linear time, by running it. For expressions that the analysis cannot judge. */

/** Characters of the texts of a search. A step that is linear takes some 8 µs for them, and one that a confirmation refuses at least 0.18 ms. */
const searched = 2_000;
const suspiciousMs = 0.12;
/** Characters of the texts that confirm a suspicion, and the time that is too much for them. The limit of a stored text is 65,536 characters. */
const confirmed = 30_000;
const slowMs = 40;

/** Pieces that may keep an expression busy: its own words and signs, and one character of each common class. */
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

/** Every place of the text is tried, as `replaceAll` does. */
const timeOf = (expression: RegExp, text: string, tries: number): number => {
  let best = Infinity;
  for (let at = 0; at < tries; at += 1) {
    const start = performance.now();
    text.replaceAll(expression, '');
    best = Math.min(best, performance.now() - start);
  }
  return best;
};

/** Pumps of up to three pieces, each with any piece before it and a sign at the end that may spoil the match. */
function* attacks(pieces: readonly string[]): Generator<(length: number) => string> {
  const some = ['', ...pieces];
  const pumps = new Set(some.flatMap((one) => some.flatMap((two) => pieces.map((three) => one + two + three))));
  for (const pump of pumps)
    for (const prefix of some) for (const suffix of ['', '\n', '\0']) yield (length) => prefix + repeated(pump, length) + suffix;
}

/** A text on which the expression is slow, shortened; null when none was found. */
export function hostileText(source: string, flags: string): string | null {
  const expression = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  for (const attack of attacks(piecesOf(source))) {
    if (timeOf(expression, attack(searched), 1) < suspiciousMs || timeOf(expression, attack(searched), 3) < suspiciousMs) continue;
    if (timeOf(expression, attack(confirmed), 2) > slowMs) return JSON.stringify(attack(40));
  }
  return null;
}
