/** Tests the export command against a fake of the gateway's interface. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launchCommand } from '#test/support/commands.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { until } from '#test/support/until.ts';

const folder = temporaryFolder();
const dataDir = join(folder, 'data');
/** The answers to the requests, in their order. The test writes the archives. */
const answers: ServerResponse[] = [];
const gateway = createServer((_request, response) => void answers.push(response));

before(async () => {
  await mkdir(dataDir);
  await writeFile(join(folder, 'passphrase'), 'correct horse battery staple');
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  gateway.close();
  await removeFolder(folder);
});

/** Starts an export, and waits until the gateway has its request. */
const begin = async (out: string) => {
  const count = answers.length;
  const address = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const { ended } = launchCommand({ address, dataDir }, 'export.ts', ['--out', out, '--passphrase-file', join(folder, 'passphrase')]);
  const answer = await until(() => answers[count], 'the gateway has the request');
  return { answer, ended };
};

test('export: of two exports to one file, the second to end is refused, and the file is that of the first', async () => {
  await mkdir(join(folder, 'twice'));
  const out = join(folder, 'twice', 'sessions.dormouse');
  const first = await begin(out);
  first.answer.write('first ');
  await until(async () => (await readdir(join(folder, 'twice'))).length > 0 || undefined, 'the first export writes');
  const second = await begin(out);
  second.answer.write('second ');
  await until(async () => (await readdir(join(folder, 'twice'))).length > 1 || undefined, 'the second export writes').catch(
    () => undefined,
  );
  first.answer.end('archive');
  assert.deepEqual([(await first.ended).code, await readFile(out, 'utf8')], [0, 'first archive']);
  second.answer.end('archive');
  const { code, output } = await second.ended;
  assert.match(output, /sessions\.dormouse is there already\.$/m);
  assert.deepEqual([code, await readFile(out, 'utf8'), await readdir(join(folder, 'twice'))], [1, 'first archive', ['sessions.dormouse']]);
});

test('export: one that is cut off leaves no file', async () => {
  await mkdir(join(folder, 'cut'));
  const { answer, ended } = await begin(join(folder, 'cut', 'sessions.dormouse'));
  answer.write('half');
  await until(async () => (await readdir(join(folder, 'cut'))).length > 0 || undefined, 'the export writes');
  answer.destroy();
  assert.deepEqual([(await ended).code, await readdir(join(folder, 'cut'))], [1, []]);
});

test('export: a refusal names the option of the command', async () => {
  const { answer, ended } = await begin(join(folder, 'refused.dormouse'));
  answer.writeHead(409).end(JSON.stringify({ error: 'the session of the instance r1 runs: `stop` closes it first' }));
  const { code, output } = await ended;
  assert.match(output, /answered 409: the session of the instance r1 runs: `--stop` closes it first$/m);
  assert.equal(code, 1);
});
