/** Tests the first minute of a new user: the lines of a start on a terminal, its end by Ctrl+C, and the help. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { test } from 'node:test';
import { findProgram } from '#config/programs.ts';
import { root } from '#test/source-tree.ts';
import { freePort } from '#test/support/ports.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { patience, until } from '#test/support/until.ts';

/** `script` of util-linux gives a program a terminal. Other systems have a program of that name with other options. */
const withoutTerminal =
  process.platform === 'linux' && findProgram('script') !== null ? '' : ' (left out: there is no `script` of util-linux)';

const entry = `exec '${process.execPath}' '${join(root, 'src/main.ts')}'`;

/** Starts the sandbox on a terminal. `type` gets what a person does once the gateway is ready. Returns the lines that were printed. */
const onTerminal = async (
  env: Readonly<Record<string, string>>,
  type: (input: NodeJS.WritableStream) => void,
): Promise<readonly string[]> => {
  const dataDir = temporaryFolder();
  const port = String(await freePort());
  // A stop on a busy machine may take longer than it should.
  const own = { PORT: port, SANDBOX_PORT: String(await freePort()), DATA_DIR: dataDir, SHUTDOWN_MS: '60000', ...env };
  const child = spawn('script', ['-qefc', `${entry} --sandbox`, '/dev/null'], { env: { PATH: process.env['PATH'], ...own } });
  let printed = '';
  child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
  const ended = once(child, 'close');
  try {
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        ({ ok }) => ok,
        () => child.exitCode !== null,
      );
    // A new database is made first.
    await until(isReady, () => `the start: ${printed}`, 2 * patience);
    await until(
      () => printed.includes('Simulated phones'),
      () => `the last line: ${printed}`,
    );
    type(child.stdin);
    assert.deepEqual(await ended, [0, null], printed);
  } finally {
    child.kill('SIGKILL');
    await removeFolder(dataDir);
  }
  const lines = stripVTControlCharacters(printed)
    .split(/\r?\n/)
    .filter((line) => line !== '');
  return lines.map((line) => line.replaceAll(port, '3000').replaceAll(own.SANDBOX_PORT, '3001'));
};

const links = [
  /^Dashboard: +http:\/\/127\.0\.0\.1:3000\/admin$/,
  /^API: +http:\/\/127\.0\.0\.1:3000\/docs$/,
  /^Simulated phones: +http:\/\/127\.0\.0\.1:3001\/$/,
];
const starts = [
  { title: 'a made admin token', env: {}, token: /^Admin token: +\w{50} {2}\(shown only this once; ADMIN_TOKEN chooses another\)$/ },
  {
    title: 'ADMIN_TOKEN',
    env: { ADMIN_TOKEN: 'a-token-of-a-person' },
    token: /^Admin token: +the one in ADMIN_TOKEN, until it is rotated$/,
  },
] as const;

for (const { title, env, token } of starts)
  test(
    `terminal: a start with ${title} prints four lines, and Ctrl+C ends it without a warning${withoutTerminal}`,
    { skip: withoutTerminal !== '' },
    async () => {
      const lines = await onTerminal(env, (input) => input.write('\u0003'));
      for (const [at, expected] of [token, ...links].entries()) assert.match(lines[at] ?? '', expected);
      assert.match(lines[4] ?? '', /service\.stopping/);
      // A busy machine closes its database slowly, and says so.
      const others = lines.filter((line) => !line.includes('service.closesSlowly'));
      assert.doesNotMatch(others.join('\n'), /WARN|ERROR/);
    },
  );

test('start: --help prints the commands and every setting, and starts nothing', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'src/main.ts'), '--help'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^ {2}npm run sandbox +starts the gateway with a simulated platform/m);
  assert.match(stdout, /^ {2}PORT \(3000\)\n {6}The port of the HTTP API\.$/m);
});
