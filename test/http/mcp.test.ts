/** Tests tools for clients of the Model Context Protocol: their list, their descriptions, and the refusals of the protocol. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AdminSessions } from '#src/http/dashboard.ts';
import { noTools, toolKinds } from '#src/http/mcp/kinds.ts';
import { McpSessions } from '#src/http/mcp/sessions.ts';
import { createMcpServer } from '#src/http/mcp/server.ts';
import { toolsOf } from '#src/http/mcp/tools.ts';
import { defaultStreamLimits, type HttpOptions, type McpGroup } from '#src/http/options.ts';
import { allRoutes } from '#src/http/routes/index.ts';
import { sharedSchemas } from '#src/http/schemas/index.ts';
import { Hub } from '#src/http/stream/hub.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { root } from '#test/source-tree.ts';
import { asAdmin, asInstance, optionsWith, setUp, token } from './setup.ts';

const groups: readonly McpGroup[] = ['reading', 'sending', 'changing'];

/** All rows of the routes, including the rows that only the simulated platform has. */
const rows = (() => {
  const options = optionsWith({ simulatedPhone: { page: '', scan: async () => null } });
  const hub = new Hub({ gateway: createFakeGateway(), limits: defaultStreamLimits, log: options.log });
  return allRoutes(options, hub, new AdminSessions(1, null));
})();
const shared = new Map(sharedSchemas.map((schema) => [(schema as { readonly $id?: string }).$id ?? '', schema]));

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const accept = { accept: 'application/json, text/event-stream' };
const beginning = (capabilities: object) =>
  message('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } });

const setUpMcp = async (t: TestContext, options: Partial<HttpOptions> = {}) => {
  const made = await setUp(t, { mcpTools: groups, ...options });
  const post = (payload: object, headers: Readonly<Record<string, string>> = {}) =>
    made.app.inject({ method: 'POST', url: '/mcp', headers: { ...accept, ...asInstance, ...headers }, payload });
  return { ...made, post };
};

test('mcp: every operation with the token of an instance is in one group of tools, or is listed as no tool', () => {
  const own = rows.filter(({ credential }) => credential === 'instance' || credential === 'webhook').map(({ operationId }) => operationId);
  assert.deepEqual(
    own.filter((name) => toolKinds.has(name) === noTools.has(name)),
    [],
    'an operation is in the table of src/http/mcp/kinds.ts once',
  );
  assert.deepEqual(
    [...toolKinds.keys(), ...noTools].filter((name) => !own.includes(name)),
    [],
    'the table names operations that exist',
  );
});

test('mcp: operations that delete, leave, log out or block need a confirmation, and operations that only read are marked so', () => {
  const said = rows.filter(
    ({ on, summary }) => on[0].startsWith('DELETE') || /^(?:Delete|Leave|Log out|Block|Remove|Cancel) /.test(summary),
  );
  const tools = said.filter(({ operationId }) => toolKinds.has(operationId));
  assert.ok(tools.length > 10, `${tools.length} tools`);
  for (const { operationId } of tools) assert.equal(toolKinds.get(operationId)?.asks, true, operationId);
  for (const [name, { group, asks, annotations }] of toolKinds) {
    assert.equal(annotations.readOnlyHint, group === 'reading', name);
    if (group === 'reading') assert.ok(!asks && !annotations.destructiveHint, name);
  }
});

test('mcp: the list of a group has only its tools, with complete schemas', () => {
  for (const group of groups) {
    const tools = toolsOf(rows, [group], shared);
    assert.deepEqual([...new Set([...tools.keys()].map((name) => toolKinds.get(name)?.group))], [group]);
    const text = JSON.stringify([...tools.values()].map(({ listing }) => listing));
    assert.doesNotMatch(text, /"\$(?:ref|id)"/, group);
  }
  const { listing } = toolsOf(rows, groups, shared).get('sendText') ?? {};
  assert.deepEqual(listing?.inputSchema.required, ['number', 'text']);
  assert.equal(listing?.description, 'Send a text (POST /send/text)');
});

test('mcp: docs/ names the number of tools of each group', () => {
  const page = readFileSync(join(root, 'docs/mcp.md'), 'utf8');
  for (const group of groups) assert.ok(page.includes(`| \`${group}\` | ${toolsOf(rows, [group], shared).size} `), group);
});

test('mcp: each argument is sent in its part of the request: path, query or body', () => {
  const tools = toolsOf(rows, groups, shared);
  const requestOf = (name: string, input: Readonly<Record<string, unknown>>) => tools.get(name)?.request(input);
  assert.deepEqual(requestOf('sendText', { number: '551', text: 'a', 'idempotency-key': 'k' }), {
    method: 'POST',
    url: '/send/text',
    headers: { 'idempotency-key': 'k' },
    payload: { number: '551', text: 'a' },
  });
  assert.equal(requestOf('getGroupLink', { groupJID: '1/2@g.us' })?.url, '/group/invitelink/1%2F2%40g.us');
  assert.deepEqual(requestOf('changeCollection', { id: '7', name: 'n' }), {
    method: 'PATCH',
    url: '/business/catalog/collection/7',
    headers: {},
    payload: { name: 'n' },
  });
});

test('mcp: an argument in the path of an operation cannot select another operation', async (t) => {
  const { post } = await setUpMcp(t);
  for (const groupJID of ['.', '..', '', null]) {
    const answer = await post(message('tools/call', { name: 'getGroupLink', arguments: { groupJID } }));
    assert.equal(answer.json().result.content[0].text, '{"error":"groupJID is required, and may be neither . nor .."}', `${groupJID}`);
  }
});

test('mcp: without the setting /mcp does not exist, and with the setting it refuses GET with 405', async (t) => {
  const { app } = await setUp(t);
  assert.equal((await app.inject({ method: 'POST', url: '/mcp', headers: asInstance, payload: {} })).statusCode, 404);
  const { app: offering } = await setUpMcp(t);
  assert.equal((await offering.inject({ url: '/mcp', headers: asInstance })).statusCode, 405);
});

test('mcp: both headers for the token are accepted, and a wrong token is refused', async (t) => {
  const { app, post } = await setUpMcp(t);
  const bare = { method: 'POST', url: '/mcp', payload: message('ping') } as const;
  for (const headers of [asInstance, { authorization: `Bearer ${token}` }])
    assert.equal((await app.inject({ ...bare, headers: { ...accept, ...headers } })).statusCode, 200);
  const wrong = await post(message('ping'), { token: 'x'.repeat(40) });
  assert.deepEqual([wrong.statusCode, wrong.json()], [401, { error: 'Invalid token' }]);
  const missing = await app.inject({ ...bare, headers: accept });
  assert.deepEqual([missing.statusCode, missing.json()], [401, { error: 'instance info not found' }]);
});

test('mcp: a body that is no message of the protocol gets the usual error body', async (t) => {
  const { app, post } = await setUpMcp(t);
  const bodies: readonly (readonly [object, Readonly<Record<string, string>>, number])[] = [
    [{ hello: 1 }, {}, 400],
    [[message('ping')], {}, 400],
    [message('ping'), { accept: 'application/json' }, 406],
    [message('ping'), { 'mcp-protocol-version': '1999-01-01' }, 400],
    [message('ping'), { 'mcp-session-id': 'unknown' }, 404],
  ];
  for (const [body, headers, status] of bodies) {
    const answer = await post(body, headers);
    assert.deepEqual([answer.statusCode, Object.keys(answer.json())], [status, ['error']], JSON.stringify(body));
    assert.equal(typeof answer.json().error, 'string');
  }
  const ended = await app.inject({ method: 'DELETE', url: '/mcp', headers: asInstance });
  assert.equal(ended.statusCode, 404);
});

test('mcp: a tool answers with the JSON of its operation, in which the token does not occur', async (t) => {
  const { app, post, lines } = await setUpMcp(t);
  const direct = await app.inject({ url: '/instance/status', headers: asInstance });
  assert.ok(direct.payload.includes(token));
  const answer = await post(message('tools/call', { name: 'getInstanceStatus', arguments: {} }), { 'x-request-id': 'one' });
  const { content, isError } = answer.json().result;
  assert.equal(isError, undefined);
  assert.deepEqual(JSON.parse(content[0].text), JSON.parse(direct.payload.replaceAll(token, '')));
  const logged = lines.filter(({ event, fields }) => event === 'http.answered' && fields['request'] === 'one');
  assert.deepEqual(
    logged.map(({ fields }) => fields['route']),
    ['/instance/status', '/mcp'],
    'both lines of the log have the id of the request',
  );
});

test('mcp: an error of an operation is the error of the tool, with the same text', async (t) => {
  const { post } = await setUpMcp(t);
  const call = async (name: string, input: object) => (await post(message('tools/call', { name, arguments: input }))).json();
  const { result } = await call('sendText', { text: 'a' });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /^\{"error":"/);
  assert.match((await call('nothing', {})).error.message, /there is no tool nothing/);
});

test('mcp: a tool call counts for the rate limit of the instance', async (t) => {
  const { post } = await setUpMcp(t, { requestsPerSecond: 3 });
  const call = () => post(message('tools/call', { name: 'getInstanceStatus', arguments: {} }));
  assert.equal((await call()).json().result.isError, undefined);
  assert.match((await call()).json().result.content[0].text, /Rate limit exceeded/);
  assert.equal((await call()).statusCode, 429);
});

test('mcp: a client that cannot ask its user gets no session, and no dangerous tool', async (t) => {
  const { post } = await setUpMcp(t);
  const began = await post(beginning({}));
  assert.deepEqual([began.statusCode, began.headers['mcp-session-id']], [200, undefined]);
  const { result } = (await post(message('tools/call', { name: 'leaveGroup', arguments: { groupjid: '1@g.us' } }))).json();
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /needs the confirmation of a person.*nothing was done.*POST \/group\/leave/);
});

test('mcp: a session belongs to its instance, and a client can end it', async (t) => {
  const { app, post } = await setUpMcp(t);
  const began = await post(beginning({ elicitation: {} }));
  assert.match(began.payload, /^event: message\ndata: .*"serverInfo":\{"name":"dormouse"/);
  const name = String(began.headers['mcp-session-id']);
  assert.match(name, /^[\w-]{36}$/);
  const payload = { name: 'other' };
  const other = await app.inject({ method: 'POST', url: '/instance/create', headers: asAdmin, payload });
  const stranger = await post(message('ping'), { token: other.json().token, 'mcp-session-id': name });
  assert.equal(stranger.statusCode, 404);
  assert.equal((await post(message('ping'), { 'mcp-session-id': name })).statusCode, 200);
  const headers = { ...asInstance, 'mcp-session-id': name };
  assert.equal((await app.inject({ method: 'DELETE', url: '/mcp', headers })).statusCode, 200);
  assert.equal((await post(message('ping'), { 'mcp-session-id': name })).statusCode, 404);
});

test('mcp: an instance has at most 20 sessions, and a further one ends the least recently used', async (t) => {
  const { post } = await setUpMcp(t);
  const names: string[] = [];
  for (let n = 0; n < 21; n += 1) names.push(String((await post(beginning({ elicitation: {} }))).headers['mcp-session-id']));
  const ask = async (name = '') => (await post(message('ping'), { 'mcp-session-id': name })).statusCode;
  assert.deepEqual([await ask(names[0]), await ask(names[1]), await ask(names[20])], [404, 200, 200]);
});

test('mcp: an unused session ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sessions = new McpSessions(1_000);
  const transport = await sessions.open('i1', createMcpServer('0', new Map()));
  const request = new Request('http://localhost/mcp', { method: 'POST', headers: { ...accept, 'content-type': 'application/json' } });
  const answer = await transport.handleRequest(request, { parsedBody: beginning({}) });
  const name = answer.headers.get('mcp-session-id') ?? '';
  t.mock.timers.tick(999);
  assert.equal(sessions.find('i1', name), transport);
  t.mock.timers.tick(1_000);
  assert.equal(sessions.find('i1', name), null);
});
