/** Tests that a test file that hangs does not block the suite. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { removeFolder, temporaryFolder } from './support/processes.ts';
import { root } from './source-tree.ts';

/** Runs test files with the options of the suite. Returns the output. */
const run = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), `import { after, test } from 'node:test';\n${content}`);
  const limits = ['--test-timeout=1000', '--import', join(root, 'test/limit.ts')];
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', ...limits], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', TEST_FILE_LIMIT_MS: '10000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await text(child.stdout);
  await removeFolder(folder);
  return printed;
};

test('limits: a test that waits forever fails, a file that never ends reports its open handles, and the next files run', async () => {
  const printed = await run({
    'a.test.js': `test('waits', ({ signal }) => new Promise(() => {
      const timer = setInterval(() => undefined, 1000);
      signal.addEventListener('abort', () => clearInterval(timer));
    }));`,
    'b.test.js': `test('leaves a server', () => {}); import('node:net').then(({ createServer }) => createServer().listen(0));`,
    'c.test.js': `test('comes last', () => {}); after(() => undefined);`,
  });
  assert.match(printed, /✖ waits/);
  assert.match(printed, /✔ leaves a server/);
  assert.match(printed, /b\.test\.js did not end in 10000 ms; still open: .*TCPServerWrap/);
  assert.match(printed, /✔ comes last/);
});

test('scopes: a late error fails its test, a hook belongs to its suite, and the runner follows no promise', async () => {
  const printed = await run({
    'a.test.js': `import { describe } from 'node:test';
    import { executionAsyncId } from 'node:async_hooks';
    import { setTimeout as wait } from 'node:timers/promises';
    test('errors: throws in a timer', async () => { setTimeout(() => { throw new Error('timer'); }, 1); await wait(50); });
    test('errors: rejects in the background', async () => { void (async () => { await null; throw new Error('promise'); })(); await wait(50); });
    let shared;
    const suite = (name) => describe(name, async () => {
      await (shared ??= wait(5));
      after(() => console.log('hook of ' + name));
      test('suites: test of ' + name, () => console.log('test of ' + name));
    });
    await suite('first');
    await suite('second');
    test('hooks: follows no promise', async () => { await null; console.log('id ' + executionAsyncId()); });`,
  });
  for (const name of ['errors: throws in a timer', 'errors: rejects in the background']) assert.match(printed, new RegExp(`✖ ${name}`));
  assert.match(printed, /test of first\nhook of first\n[^]*test of second\nhook of second\n/);
  assert.match(printed, /^id 0$/m);
});
