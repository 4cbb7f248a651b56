/** Tests the MCP tools of a gateway with the official MCP client. The phones of the simulated platform show the messages that arrive. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type ElicitResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Account } from '#test/support/account.ts';
import { root } from '#test/source-tree.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
let other: Account;
const clients: Client[] = [];

/** The example entry of a client in docs/mcp.md. */
const example = (() => {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/mcp.md'), 'utf8')) ?? [];
  return (JSON.parse(json) as { mcpServers: { whatsapp: { url: string; headers: Record<string, string> } } }).mcpServers.whatsapp;
})();

before(async () => {
  scene = await Scene.open({ MCP_TOOLS: 'all' });
  [account, other] = [await scene.paired(), await scene.paired()];
});
after(async () => {
  for (const client of clients) await client.close();
  await scene?.close();
});

type Answer = (message: string) => ElicitResult;

/** Connects a client. The user gives `answer` to each question. Without an answer the client cannot ask. */
const connect = async (token: string, answer?: Answer): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: answer === undefined ? {} : { elicitation: { form: {} } } });
  if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params.message));
  const url = new URL(new URL(example.url).pathname, scene.gateway.address);
  const headers = Object.fromEntries(
    Object.entries(example.headers).map(([name, value]) => [name, value.replace('YOUR_INSTANCE_TOKEN', token)]),
  );
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never);
  clients.push(client);
  return client;
};

interface Called {
  readonly failed: boolean;
  readonly text: string;
}

const call = async (client: Client, name: string, input: Record<string, unknown>): Promise<Called> => {
  const { isError, content } = await client.callTool({ name, arguments: input });
  const [first] = content as readonly { readonly text: string }[];
  return { failed: isError === true, text: first?.text ?? '' };
};

test('mcp: a client lists the tools with their hints, sends a text that the phone of the contact decrypts, and finds it', async () => {
  const client = await connect(account.token);
  const { tools } = await client.listTools();
  const hintsOf = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
  assert.partialDeepStrictEqual(hintsOf('findMessages'), { readOnlyHint: true, destructiveHint: false });
  assert.partialDeepStrictEqual(hintsOf('sendText'), { readOnlyHint: false, destructiveHint: false, idempotentHint: false });
  assert.partialDeepStrictEqual(hintsOf('leaveGroup'), { readOnlyHint: false, destructiveHint: true });
  const text = `by a tool ${Math.random()}`;
  const sent = await call(client, 'sendText', { number: contact, text });
  assert.equal(sent.failed, false, sent.text);
  await until(() => scene.readBy(contact).has(text), 'the contact reads the text');
  const found = await call(client, 'findMessages', { chatid: `${contact}@s.whatsapp.net`, limit: 5 });
  assert.ok(found.text.includes(text));
});

test('mcp: a client that cannot ask its user is refused a dangerous tool, and nothing happens', async () => {
  const client = await connect(account.token);
  const { failed, text } = await call(client, 'blockContact', { number: contact, block: true });
  assert.ok(failed);
  assert.match(text, /needs the confirmation of a person, and this client cannot ask/);
  assert.deepEqual(JSON.parse((await call(client, 'listBlocked', {})).text).blockList, []);
});

test('mcp: a dangerous tool is done when the user confirms it, and not when the user declines', async () => {
  const asked: string[] = [];
  const answers: ElicitResult[] = [
    { action: 'decline' },
    { action: 'accept', content: { confirm: false } },
    { action: 'accept', content: { confirm: true } },
  ];
  const client = await connect(account.token, (message) => {
    asked.push(message);
    return answers[asked.length - 1] ?? { action: 'cancel' };
  });
  const block = () => call(client, 'blockContact', { number: contact, block: true });
  const blocked = async (): Promise<readonly string[]> => JSON.parse((await call(client, 'listBlocked', {})).text).blockList;
  for (let n = 0; n < 2; n += 1) {
    const declined = await block();
    assert.deepEqual(declined, { failed: true, text: 'The user did not confirm blockContact, so nothing was done.' });
    assert.deepEqual(await blocked(), []);
  }
  const confirmed = await block();
  assert.equal(confirmed.failed, false, confirmed.text);
  assert.equal((await blocked()).length, 1);
  assert.equal(asked.length, 3);
  assert.ok(
    asked.every((question) => question.includes('POST /chat/block') && question.includes(contact)),
    asked.join(),
  );
});

test('mcp: a client with a wrong token cannot connect', async () => {
  await assert.rejects(connect('x'.repeat(40)), /Invalid token/);
});

test('mcp: the tools of one instance reach no message of another', async () => {
  const secret = `for one alone ${Math.random()}`;
  await call(await connect(account.token), 'sendText', { number: contact, text: secret });
  const stranger = await connect(other.token);
  for (const [name, input] of [
    ['findMessages', {}],
    ['findChats', {}],
  ] as const) {
    const { failed, text } = await call(stranger, name, input);
    assert.ok(!failed && !text.includes(secret) && !text.includes(account.token), text);
  }
  const mine = await connect(account.token, () => ({ action: 'cancel' }));
  const session = (mine.transport as unknown as StreamableHTTPClientTransport).sessionId ?? '';
  const taken = await fetch(new URL('/mcp', scene.gateway.address), {
    method: 'POST',
    headers: {
      token: other.token,
      'mcp-session-id': session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  assert.deepEqual([taken.status, Object.keys((await taken.json()) as object)], [404, ['error']]);
});

test('mcp: a gateway stops while a client waits for its user', async () => {
  let asked = false;
  const client = await connect(account.token, () => {
    asked = true;
    return new Promise<never>(() => undefined) as never;
  });
  const pending = call(client, 'leaveGroup', { groupjid: '1@g.us' }).catch(() => 'ended');
  await until(() => asked, 'the user is asked');
  const began = performance.now();
  await scene.gateway.end('SIGTERM');
  // The bound is shorter than the time for an orderly stop.
  assert.ok(performance.now() - began < 40_000, 'the stop waits for no user');
  await client.close();
  assert.equal(await pending, 'ended');
});
