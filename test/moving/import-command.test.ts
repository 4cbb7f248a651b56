/** Tests the import command against a fake of the gateway's interface. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { refusedSession, type ImportedSession } from '#actors/views/moving.ts';
import { openLines } from '#src/moving/archive.ts';
import { sessionsIn } from '#src/moving/archived.ts';
import { type Ran, runCommand } from '#test/support/commands.ts';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
/** The numbers of imports that the fake gateway accepted and still accepts, and what it answers about each session. */
const imports: { done: number; left: number; said: Partial<ImportedSession> } = { done: 0, left: Infinity, said: {} };

/** Answers an import as a gateway that takes every session. The token of a session is its name. */
const imported = async (request: IncomingMessage): Promise<object> => {
  const sessions: ImportedSession[] = [];
  for await (const { name } of sessionsIn(openLines(request, String(request.headers['x-passphrase']))))
    sessions.push({ ...refusedSession({ name, reason: '' }), outcome: 'imported', token: name, ...imports.said });
  imports.done += 1;
  return (imports.left -= 1) < 0 ? { error: 'the database does not answer' } : { sessions };
};

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = request.url?.startsWith('/admin/import') ? await imported(request) : { error: 'Invalid token' };
  response.writeHead('error' in body ? 503 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const gateway = createServer((request, response) => void answer(request, response));

before(async () => {
  await mkdir(join(folder, 'data'));
  await writeMadeSession(join(folder, 'sessions', 'bar'), { number: '5511911110001', preKeys: 3 });
  await writeMadeSession(join(folder, 'sessions', 'cafe'), { number: '5511911110002', preKeys: 3 });
  await mkdir(join(folder, 'sessions', 'bar', 'pre-key-9.json'));
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  gateway.close();
  await removeFolder(folder);
});

const run = (source: string, args: readonly string[] = []): Promise<Ran> => {
  const address = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  return runCommand({ address, dataDir: join(folder, 'data') }, 'import.ts', ['--from', 'folder', '--path', join(folder, source), ...args]);
};

test('import: a session with a file that cannot be read is refused, and the others are imported', async () => {
  const { code, output } = await run('sessions');
  assert.match(output, /^bar .*refused: a file cannot be read: EISDIR$/m);
  assert.match(output, /^cafe .*imported$/m);
  assert.equal(code, 1);
});

test('import: a name of --only that no session has is refused before anything is imported', async () => {
  const { done } = imports;
  const { code, output } = await run('sessions', ['--only', 'cafe', '--only', 'cafee', '--only', 'caff']);
  assert.match(output, /^The source has no session named cafee, caff\. Nothing was imported\.$/m);
  assert.deepEqual([code, imports.done], [1, done]);
});

test('import: --connect names each session that does not connect, with the exit code 1', async () => {
  await writeMadeSession(join(folder, 'two', 'first'), { number: '5511911110003', preKeys: 1 });
  await writeMadeSession(join(folder, 'two', 'second'), { number: '5511911110004', preKeys: 1 });
  const { code, output } = await run('two', ['--connect']);
  for (const name of ['first', 'second']) assert.match(output, new RegExp(`^${name}: The gateway .* answered 503: Invalid token$`, 'm'));
  assert.equal(code, 1);
});

test('import: a reason and a note name the options of the command', async (t) => {
  t.after(() => (imports.said = {}));
  const way = 'export it with `stop` first, and name r1 with `into`';
  imports.said = { outcome: 'refused', reason: `the instance r1 runs: ${way}`, notes: [`the instance r2 runs: ${way}`] };
  const { output } = await run('sessions', ['--only', 'cafe']);
  for (const instance of ['r1', 'r2'])
    assert.match(output, new RegExp(`${instance} runs: export it with \`--stop\` first, and name r1 with \`--into\``));
});

test('import: settings that are not taken over have a heading that fits settings of this gateway', async (t) => {
  t.after(() => (imports.said = {}));
  imports.said = { lost: ['chatbot: its settings stay there'] };
  const { output } = await run('sessions', ['--only', 'cafe']);
  assert.match(output, /^Settings that are not taken over:\n- cafe: chatbot: its settings stay there\.$/m);
});

test('import: one that ends in the middle still shows the sessions that were imported', async () => {
  for (let at = 1; at <= 16; at += 1)
    await writeMadeSession(join(folder, 'many', `many ${at}`), { number: `55119222200${10 + at}`, preKeys: 1 });
  imports.left = 1;
  const { code, output } = await run('many');
  assert.equal(output.match(/^many \d+ .*imported$/gm)?.length, 15, output);
  assert.match(output, /answered 503: the database does not answer/);
  assert.equal(code, 1);
});
