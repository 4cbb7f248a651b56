/** Tests the import command against a fake of the gateway's interface. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { refusedSession, type ImportedSession } from '#actors/views/moving.ts';
import { openLines } from '#src/moving/archive.ts';
import { sessionsIn } from '#src/moving/archived.ts';
import { root } from '#test/source-tree.ts';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
const source = join(folder, 'sessions');

/** Answers an import as a gateway that takes every session. The token of a session is its name. */
const imported = async (request: IncomingMessage): Promise<object> => {
  const sessions: ImportedSession[] = [];
  for await (const { name } of sessionsIn(openLines(request, String(request.headers['x-passphrase']))))
    sessions.push({ ...refusedSession({ name, reason: '' }), outcome: 'imported', token: name });
  return { sessions };
};

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = request.url?.startsWith('/admin/import') ? await imported(request) : { error: 'Invalid token' };
  response.writeHead('error' in body ? 401 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const gateway = createServer((request, response) => void answer(request, response));

before(async () => {
  await writeMadeSession(join(source, 'bar'), { number: '5511911110001', preKeys: 3 });
  await writeMadeSession(join(source, 'cafe'), { number: '5511911110002', preKeys: 3 });
  await mkdir(join(source, 'bar', 'pre-key-9.json'));
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  gateway.close();
  await removeFolder(folder);
});

const run = async (args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> => {
  const to = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const env = { PATH: process.env['PATH'] ?? '', ADMIN_TOKEN: 'admin-token-of-this-test', DATA_DIR: join(folder, 'data') };
  const given = ['--from', 'folder', '--path', source, '--to', to, ...args];
  const child = spawn(process.execPath, [join(root, 'src', 'import.ts'), ...given], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
};

test('import: a session with a file that cannot be read is refused, and the others are imported', async () => {
  const { code, output } = await run([]);
  assert.match(output, /^bar .*refused: a file cannot be read: EISDIR$/m);
  assert.match(output, /^cafe .*imported$/m);
  assert.equal(code, 1);
});
