/** Tests the passphrase that the export command asks for at a terminal. A fake of the gateway's interface notes the requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { adminToken } from '#test/support/gateway.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { hasScript, PseudoTerminal } from '#test/support/pseudo-terminal.ts';

const skip = hasScript ? false : 'the machine has no script(1)';
const folder = temporaryFolder();
const out = join(folder, 'out', 'sessions.dormouse');
const resting = { id: 'r1', name: 'shop', owner: '5511999990001', status: 'disconnected', qrcode: '', paircode: '' };
let instances: readonly object[] = [];
/** The paths of the requests, in order, and the passphrases of the exports. */
const asked: string[] = [];
const passphrases: unknown[] = [];

const gateway = createServer((request, response) => {
  asked.push(request.url ?? '');
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.once('end', () => {
    if (request.url !== '/admin/export') return void response.end(JSON.stringify(instances));
    passphrases.push((JSON.parse(body) as { readonly passphrase: unknown }).passphrase);
    response.end('archive');
  });
});

before(async () => {
  await mkdir(join(folder, 'out'));
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  gateway.close();
  await removeFolder(folder);
});
beforeEach(() => {
  instances = [resting];
  asked.length = 0;
  passphrases.length = 0;
});

let terminal: PseudoTerminal | null = null;
afterEach(() => terminal?.close());

const begin = (...args: readonly string[]): PseudoTerminal => {
  const address = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  return (terminal = new PseudoTerminal(['src/export.ts', '--to', address, '--out', out, ...args], {
    ADMIN_TOKEN: adminToken,
    DATA_DIR: folder,
  }));
};
const first = 'Passphrase for the archive: ';
const second = 'The same passphrase again: ';

test('export: a passphrase that is typed differently the second time ends the command before a session is stopped', { skip }, async () => {
  const command = begin('--stop');
  await command.answer(first, 'correct horse battery');
  await command.answer(second, 'correct horse batery');
  assert.equal(await command.ended(), 1);
  assert.match(command.shown, /The two passphrases differ\. Nothing was stopped or exported\./);
  assert.ok(!asked.includes('/admin/export'), String(asked));
  assert.deepEqual(await readdir(join(folder, 'out')), []);
  assert.doesNotMatch(command.shown, /horse/);
});

test('export: a short passphrase is refused before it is asked for again', { skip }, async () => {
  const command = begin('--stop');
  await command.answer(first, 'short');
  assert.equal(await command.ended(), 1);
  assert.match(command.shown, /must have at least 12 characters/);
  assert.ok(!command.shown.includes(second));
});

test('export: a passphrase that is typed twice alike makes the archive, and is never shown', { skip }, async (t) => {
  t.after(() => removeFolder(out));
  const command = begin('--instance', 'shop');
  await command.answer(first, 'correct horse battery');
  await command.answer(second, 'correct horse battery');
  assert.equal(await command.ended(), 0, command.shown);
  assert.deepEqual(passphrases, ['correct horse battery']);
  assert.doesNotMatch(command.shown, /horse/);
});

for (const status of ['connected', 'connecting'])
  test(`export: without --stop a session that is ${status} is refused before the passphrase is asked for`, { skip }, async () => {
    instances = [resting, { ...resting, id: 'r2', status }];
    const command = begin();
    assert.equal(await command.ended(), 1);
    assert.match(command.shown, /The session of the instance r2 runs: --stop closes it first\./);
    assert.ok(!command.shown.includes(first));
  });

test('export: an instance that waits for a scan, or that is not named, does not refuse the export', { skip }, async (t) => {
  t.after(() => removeFolder(out));
  instances = [
    resting,
    { ...resting, id: 'r2', status: 'connecting', qrcode: 'data:image/png;base64,' },
    { ...resting, id: 'r3', name: 'other', status: 'connected' },
  ];
  const command = begin('--instance', 'r1', '--instance', 'r2');
  await command.answer(first, 'correct horse battery');
  await command.answer(second, 'correct horse battery');
  assert.equal(await command.ended(), 0, command.shown);
});

test('secret: the terminal hides the input before the prompt is shown, and shows it again afterwards', { skip }, async () => {
  const program = join(folder, 'ask.ts');
  const helpers = JSON.stringify(new URL('../../src/base/command-line.ts', import.meta.url).href);
  await writeFile(
    program,
    `import { askSecret } from ${helpers};
    const write = process.stderr.write.bind(process.stderr);
    const hidden = [];
    process.stderr.write = (text) => (hidden.push([text, process.stdin.isRaw]), write(text));
    const secret = await askSecret('Secret: ');
    console.log(JSON.stringify({ length: secret.length, hidden, isHidden: process.stdin.isRaw }));`,
  );
  terminal = new PseudoTerminal([program]);
  await terminal.answer('Secret: ', 'open sesame');
  assert.equal(await terminal.ended(), 0, terminal.shown);
  assert.match(terminal.shown, /"length":11,"hidden":\[\["Secret: ",true\],\["\\n",false\]\],"isHidden":false/);
  assert.doesNotMatch(terminal.shown, /sesame/);
});
