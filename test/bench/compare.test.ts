/** Tests the comparison of two checkouts: its verdict on their readings, and the files that it leaves behind. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkoutOf, missingPackages } from './checkout.ts';
import { comparison, type Verdict } from './compared.ts';

const readings = (values: readonly number[]) => values.map((value) => ({ value }));

const rounds: readonly (readonly [string, 'more' | 'less', readonly number[], readonly number[], number, Verdict])[] = [
  ['equal', 'less', [10, 20, 30], [10, 20, 30], 1, 'within'],
  ['slower by a twentieth', 'less', [100, 100, 100], [105, 105, 105], 1.05, 'within'],
  ['slower by more in every round', 'less', [10, 20, 30], [12, 24, 36], 1.2, 'slower'],
  ['a rate that falls', 'more', [120, 120, 120], [100, 100, 100], 1.2, 'slower'],
  ['a rate that grows', 'more', [100, 100, 100], [200, 200, 200], 0.5, 'within'],
  ['slower in the middle, faster in every fourth round', 'less', [10, 10, 10, 10, 10], [8, 9, 11, 12, 14], 1.1, 'unclear'],
  ['slower in two rounds, which are too few', 'less', [10, 10], [20, 20], 2, 'unclear'],
  ['both sides slow in the same round', 'less', [10, 90, 10], [10, 90, 10], 1, 'within'],
];
for (const [title, better, others, ours, ratio, verdict] of rounds) {
  test(`comparison: ${title} is ${verdict}`, () => {
    const figures = { value: { name: 'value', unit: 'ms', better } };
    const [compared] = comparison({ figures }, readings(others), readings(ours));
    assert.equal(Number(compared?.ratio.toFixed(9)), ratio);
    assert.equal(compared?.verdict, verdict);
  });
}

const ours = { packages: { '': { version: '2' }, 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } } };
const locks: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ['the same as here: they serve', { '': '1', 'node_modules/a': '1.0.0', 'node_modules/b': '1.0.0' }, []],
  ['fewer than here: they serve', { '': '1', 'node_modules/a': '1.0.0' }, []],
  ['one in another version: it is missing', { '': '1', 'node_modules/a': '1.0.1' }, ['a']],
  ['one more than here: it is missing', { '': '1', 'node_modules/a': '1.0.0', 'node_modules/a/node_modules/c': '1.0.0' }, ['c']],
];
for (const [title, versions, missing] of locks) {
  test(`packages of a lock file: ${title}`, () => {
    const packages = Object.fromEntries(Object.entries(versions).map(([path, version]) => [path, { version }]));
    assert.deepEqual(missingPackages({ packages }, ours), missing);
  });
}

/** A temporary repository, so the worktrees of the test affect no other checkout. */
const repository = mkdtempSync(join(tmpdir(), 'dormouse-compare-test-'));
after(() => rmSync(repository, { recursive: true, force: true }));
const git = (...args: readonly string[]): string => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8', stdio: 'pipe' });
const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.invalid'];
const commit = (version: string): void => {
  writeFileSync(join(repository, 'package.json'), '{}');
  writeFileSync(join(repository, 'package-lock.json'), JSON.stringify({ packages: { 'node_modules/a': { version } } }));
  git('add', 'package.json', 'package-lock.json');
  git(...author, 'commit', '-q', '-m', version);
};
git('init', '-q');
commit('1.0.0');
commit('2.0.0');

test('checkout: a revision is checked out with the packages of this checkout, and removed afterwards', () => {
  mkdirSync(join(repository, 'node_modules'));
  const checkout = checkoutOf('HEAD', repository);
  assert.ok(existsSync(join(checkout.folder, 'package.json')));
  assert.ok(lstatSync(join(checkout.folder, 'node_modules')).isSymbolicLink());
  checkout.remove();
  checkout.remove();
  assert.equal(existsSync(checkout.folder), false);
  assert.equal(git('worktree', 'list').trim().split('\n').length, 1);
  assert.ok(existsSync(join(repository, 'node_modules')));
});

test('checkout: a revision that needs other packages is refused with advice, and its worktree is removed', () => {
  assert.throws(() => checkoutOf('HEAD~1', repository), /HEAD~1 needs other packages \(a\): make a checkout of it, run npm ci/);
  assert.equal(git('worktree', 'list').trim().split('\n').length, 1);
});

test('checkout: a name that is neither a folder nor a revision is refused', () =>
  assert.throws(() => checkoutOf('no-such-revision', repository), /no-such-revision/));

test('checkout: a folder without packages is refused with advice', () => {
  const folder = join(repository, 'other');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  assert.throws(() => checkoutOf(folder, repository), /other has no packages: run npm ci there/);
});
