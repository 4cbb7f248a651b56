/** Tests the programs of docs/quickstart.md. Each sends a text, receives the message of the contact, and replies. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { root } from '#test/source-tree.ts';
import type { Account } from '#test/support/account.ts';
import { adminToken } from '#test/support/gateway.ts';
import { freePort, isFree } from '#test/support/ports.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';
import { N8nWorkflow } from './n8n.ts';

let scene: Scene;
let account: Account;
const children: ChildProcess[] = [];

before(async () => {
  // The workflow replies to the address in the event.
  const own = await freePort();
  scene = await Scene.open({ PORT: String(own), BASE_URL: `http://127.0.0.1:${own}` });
  account = await scene.paired();
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await scene?.close();
});

/** Starts a program in the folder of the examples. Its output is in the error of a test that fails. */
const start = (command: string, args: readonly string[], port: number) => {
  const { PATH = '', HOME = '' } = process.env;
  const { address } = scene.gateway;
  // A shell that started the gateway may export the port of the gateway too.
  const env = { PATH, HOME, PORT: new URL(address).port, GATEWAY: address, TOKEN: account.token, TO: contact, RECEIVER_PORT: String(port) };
  const child = spawn(command, args, { cwd: join(root, 'docs/examples'), env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  return { child, printed: () => printed };
};

/** Plays the contact: reads the first text, writes a message, and reads the reply. */
const converse = async (language: string, printed: () => string): Promise<void> => {
  const reads = (text: string): Promise<boolean> =>
    until(
      () => scene.readBy(contact).has(text),
      () => `the contact reads "${text}"; the program printed:\n${printed()}`,
    );
  await reads(`Hello from ${language}`);
  await scene.write(account, `Are you ${language}?`);
  await reads(`You wrote: Are you ${language}?`);
};

const works = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

interface Language {
  readonly name: string;
  /** Returns true if this machine can run the program. */
  readonly isHere: () => boolean;
  readonly needs: string;
  readonly command: string;
  readonly receiver: (port: number) => readonly string[];
  /** A second program, which sends while the receiver runs. */
  readonly sender?: readonly string[];
}

const languages: readonly Language[] = [
  { name: 'TypeScript', isHere: () => true, needs: '', command: process.execPath, receiver: () => ['reply.ts'] },
  {
    name: 'Python',
    isHere: () => works('python3', '-c', 'import requests'),
    needs: 'python3 with requests',
    command: 'python3',
    receiver: () => ['reply.py'],
  },
  {
    name: 'PHP',
    isHere: () => works('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'),
    needs: 'php with curl',
    command: 'php',
    receiver: (port) => ['-S', `127.0.0.1:${port}`, 'reply.php'],
    sender: ['reply.php'],
  },
];

for (const { name, isHere, needs, command, receiver, sender } of languages) {
  const reason = isHere() ? '' : ` (left out: this machine has no ${needs})`;
  test(`quick start: the program in ${name} sends, receives and replies${reason}`, { skip: reason !== '' }, async () => {
    const port = await freePort();
    const { child, printed } = start(command, receiver(port), port);
    if (sender !== undefined) {
      await until(async () => !(await isFree(port)), `the receiver listens; it printed:\n${printed()}`);
      const other = start(command, sender, port);
      const code = await new Promise((resolve) => void other.child.once('close', resolve));
      assert.equal(code, 0, other.printed());
    }
    await converse(name, printed);
    child.kill();
    await new Promise((resolve) => void child.once('close', resolve));
  });
}

test('quick start: the workflow of n8n sends, receives and replies', async () => {
  const workflow = new N8nWorkflow('n8n-reply.json');
  let failed = '';
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const [headers, body] = [request.headers, (await json(request)) as object];
      await workflow.run('Message comes', { headers, body });
      response.end();
    };
    take().catch((error: unknown) => {
      failed = String(error);
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook/dormouse`;
  const settings = { gateway: scene.gateway.address, token: account.token, to: contact, hook };
  try {
    assert.equal(await workflow.run('Start', {}, settings), 2);
    await converse('n8n', () => failed);
    assert.equal(failed, '');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

/** Makes the requests of the community nodes for n8n that docs/quickstart.md names, as in their sources. */
test('quick start: the requests of the community nodes of n8n work', async () => {
  const { address } = scene.gateway;
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: object): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(address + path, { method, headers: { ...headers, 'content-type': 'application/json' }, ...sent });
    assert.equal(answer.status, 200, `${method} ${path}: ${await answer.clone().text()}`);
    return answer.json();
  };
  const { token } = account;
  const own = {
    url: `${scene.receiver.url}/n8n`,
    events: ['messages'],
    excludeMessages: [],
    addUrlEvents: false,
    addUrlTypesMessages: false,
  };
  type Saved = readonly { readonly id: string; readonly url: string }[];

  // @urzum/n8n-nodes-uazapi: the test of its credential, its list of instances, its trigger, and a text.
  await ask('GET', '/status', {});
  const instances = (await ask('GET', '/instance/all', { admintoken: adminToken })) as readonly { readonly token: string }[];
  assert.ok(instances.some((one) => one.token === token));
  const before = (await ask('GET', '/webhook', { token })) as Saved;
  const added = (await ask('POST', '/webhook', { token }, { action: 'add', enabled: true, ...own })) as Saved;
  const id = added.find(({ url }) => url === own.url)?.id;
  assert.ok(id);
  const track = { track_source: 'automa_uazapi' };
  const text = { number: contact, text: 'from a node', ...track };
  await ask('POST', '/send/text', { token }, text);
  const told = await scene.receiver.wait(
    ({ body }) => (body['message'] as Record<string, unknown> | undefined)?.['text'] === text.text,
    'the text',
  );
  assert.equal((told.body['message'] as Record<string, unknown>)['track_source'], track.track_source);
  await ask('POST', '/webhook', { token }, { action: 'delete', id });
  assert.deepEqual(await ask('GET', '/webhook', { token }), before);

  // n8n-nodes-uazapi: each request has both headers, and the one of the administrator may be empty.
  await ask('GET', '/instance/status', { token, admintoken: '' });
  await ask('POST', '/send/text', { token, admintoken: '' }, { number: contact, text: 'from another node' });
});
