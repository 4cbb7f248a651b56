/** Tests regular expressions that run on untrusted text. With one that is not linear, a text of some hundred kilobytes can stop the process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from 'recheck';
import { readSourceTree } from './source-tree.ts';
import { hostileText } from './support/hostile-texts.ts';

/** Files that build expressions, of paths of our own routes alone: `[^/]+` and `.*` between fixed words, never on more than a path. */
const builders = ['src/http/errors.ts', 'src/sandbox/control/errors.ts'];

const program = readSourceTree().filter(({ path }) => !path.startsWith('test/'));

const expressions = new Map(
  program.flatMap(({ path, expressions: found }) => found.map(({ line, what }) => [what, `${path}:${line}`] as const)),
);

/**
 * Returns why the expression is not linear; null when it is. The analysis knows no look-around, and gives up on large expressions. It decides most
 * expressions in milliseconds, and those that it has not decided after two seconds take as much memory as time.
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

test('expressions: none is built from what is known at run time only', () =>
  assert.deepEqual(
    program
      .filter((file) => file.builtExpressions.length > 0)
      .map(({ path }) => path)
      .toSorted(),
    builders,
  ));

test('hostile texts: they are found for expressions that the analysis cannot judge', () => {
  for (const quadratic of [/\*\*(?=\S)([^\n]*?\S)\*\*/, /~~(?=\S)([^\n]*?\S)~~/, /(?<!b)\s+$/])
    assert.notEqual(hostileText(quadratic.source, quadratic.flags), null, `${quadratic}`);
  for (const linear of [/(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/, /^\d{5,}:(?!\d{1,4}(?:@|$))(.+)$/])
    assert.equal(hostileText(linear.source, linear.flags), null, `${linear}`);
});
