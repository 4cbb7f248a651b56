/** Tests regular expressions that run on untrusted text. Without linear time, a text of a few hundred kilobytes can block the process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from 'recheck';
import { readSourceTree } from './source-tree.ts';
import { hostileText } from './support/hostile-texts.ts';

/** Files that build expressions at run time. They use only paths of routes, with `[^/]+` and `.*` between fixed words, and match only a path. */
const builders = ['src/http/errors.ts', 'src/sandbox/control/errors.ts'];

const program = readSourceTree().filter(({ path }) => !path.startsWith('test/'));

const expressions = new Map(
  program.flatMap(({ path, expressions: found }) => found.map(({ line, what }) => [what, `${path}:${line}`] as const)),
);

/**
 * Returns the reason why the expression is not linear, or null if it is linear. The analysis does not support look-around, and gives up on large expressions.
 * It decides most expressions in milliseconds. The time-out of two seconds also bounds its memory, which grows with the time.
 */
const objection = async (literal: string): Promise<string | null> => {
  const end = literal.lastIndexOf('/');
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)];
  const found = await check(source, flags, { checker: 'automaton', timeout: 2_000 });
  if (found.status === 'safe') return null;
  return found.status === 'vulnerable' ? `${found.complexity.summary}: ${found.attack.pattern}` : hostileText(source, flags);
};

test('expressions: each regular expression of the program takes linear time', async () => {
  assert.ok(expressions.size > 200, `${expressions.size} expressions were found`);
  const found: string[] = [];
  for (const [literal, where] of expressions) {
    const reason = await objection(literal);
    if (reason !== null) found.push(`${where} ${literal} takes more than linear time (${reason.slice(0, 120)})`);
  }
  if (found.length > 0) assert.fail(`\n${found.join('\n')}\n`);
});

test('expressions: only the listed files build expressions at run time', () =>
  assert.deepEqual(
    program
      .filter((file) => file.builtExpressions.length > 0)
      .map(({ path }) => path)
      .toSorted(),
    builders,
  ));

test('hostile texts: a text that takes quadratic time is found for expressions that the analysis cannot judge', () => {
  for (const quadratic of [/\*\*(?=\S)([^\n]*?\S)\*\*/, /~~(?=\S)([^\n]*?\S)~~/, /(?<!b)\s+$/])
    assert.notEqual(hostileText(quadratic.source, quadratic.flags), null, `${quadratic}`);
  for (const linear of [/(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/, /^\d{5,}:(?!\d{1,4}(?:@|$))(.+)$/])
    assert.equal(hostileText(linear.source, linear.flags), null, `${linear}`);
});
