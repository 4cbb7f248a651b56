/** Tests the release script in a copy of the files that it changes. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '#test/support/files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const repository = (folder: string) => {
  const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@localhost', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@localhost' };
  const env = { ...process.env, ...identity, GIT_CONFIG_GLOBAL: '/dev/null' };
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
  const release = (...args: string[]) => spawnSync('.ci/release', args, { cwd: folder, env, encoding: 'utf8' });
  mkdirSync(join(folder, '.ci'));
  for (const file of ['.ci/release', 'package.json', 'package-lock.json', 'src/sandbox/package.json'])
    cpSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- Mice sleep.\n\n## 0.0.1\n\n- Mice wake.\n');
  git('init', '-qb', 'main');
  git('add', '-A');
  git('commit', '-qm', 'Begin');
  return { git, release };
};

test('release: the version, the changelog and the tag agree, and an incomplete release is refused', async () => {
  const folder = await temporaryFolder();
  const { git, release } = repository(folder);
  for (const version of ['', '1', '0.0.1', 'v9.0.0']) assert.notEqual(release(version, '--no-image').status, 0, version);

  const { status, stderr } = release('7.1.0', '--no-image');
  assert.equal(status, 0, stderr);
  assert.equal(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version, '7.1.0');
  assert.match(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), /^## Unreleased\n\n## 7\.1\.0 \(\d{4}-\d\d-\d\d\)\n\n- Mice sleep\.$/m);
  assert.equal(git('log', '-1', '--format=%s'), 'Release 7.1.0');
  assert.equal(git('tag', '--list', '--format=%(contents)').trim(), '- Mice sleep.');
  assert.equal(git('status', '--porcelain'), '');

  assert.match(release('7.1.0', '--no-image').stderr, /released already/);
  writeFileSync(join(folder, 'stray'), '');
  assert.match(release('7.2.0', '--no-image').stderr, /not committed/);
});
