/** Tests the view of an operator on two nodes with a NATS server, through either node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { adminToken, type GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { patience, until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
let second: GatewayProcess;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  second = await nodes.another('second').start();
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

const own = { 'sec-fetch-site': 'same-origin' };

/** Signs in at a node. Returns a function that sends requests to any node with the cookie. */
const signIn = async (node: GatewayProcess, token = adminToken) => {
  const begun = await fetch(`${node.address}/admin/session`, { method: 'POST', headers: { admintoken: token } });
  assert.equal(begun.status, 200);
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  return (at: GatewayProcess, path: string, method = 'GET') => fetch(`${at.address}${path}`, { method, headers: { cookie, ...own } });
};

const endOf = (response: Response): Promise<string> =>
  response.text().then(
    () => 'ended',
    () => 'ended',
  );

test('sign-in: it is valid on every node at once, and a sign-out ends it and its streams on all nodes', withNats, async () => {
  const ask = await signIn(nodes.first);
  const other = await signIn(second);
  assert.equal((await ask(second, '/admin/actors')).status, 200);
  const stream = await ask(second, '/admin/actors/stream');
  assert.equal(stream.status, 200);
  const ended = endOf(stream);
  assert.equal((await ask(nodes.first, '/admin/session', 'DELETE')).status, 200);
  assert.equal(await Promise.race([ended, wait(patience, 'it goes on', { ref: false })]), 'ended');
  assert.equal((await ask(second, '/admin/actors')).status, 401);
  assert.equal((await other(nodes.first, '/admin/actors')).status, 200, 'the other sign-in stays');
});

test('sign-in: a user is valid on every node, and a new role ends the session and its streams on all nodes', withNats, async () => {
  const password = 'a long enough secret';
  const made = await nodes.first.call('POST', '/admin/users', { body: { name: 'ana', role: 'viewer', password } });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const begun = await second.call('POST', '/admin/session/user', { body: { name: 'ana', password } });
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const ask = (node: GatewayProcess, path: string) => fetch(`${node.address}${path}`, { headers: { cookie, ...own } });
  assert.equal((await ask(nodes.first, '/admin/actors')).status, 200);
  const stream = await ask(second, '/admin/actors/stream');
  assert.equal(stream.status, 200);
  const ended = endOf(stream);
  const changed = await nodes.first.call('POST', '/admin/users/update', { body: { id: made.body['id'], role: 'operator' } });
  assert.equal(changed.status, 200);
  assert.equal((await ask(nodes.first, '/admin/actors')).status, 401);
  assert.equal(await Promise.race([ended, wait(patience, 'it goes on', { ref: false })]), 'ended');
  assert.equal((await ask(second, '/admin/actors')).status, 401);
});

test('sign-in: a forged cookie is refused', withNats, async () => {
  const cookie = `dormouse_session=${'A'.repeat(43)}`;
  const answer = await fetch(`${second.address}/admin/actors`, { headers: { cookie, ...own } });
  assert.equal(answer.status, 401);
});

test('sign-in: it survives the node that created it, and names instances that another node created a moment ago', withNats, async () => {
  const third = await nodes.another('third').start();
  const ask = await signIn(third);
  assert.equal((await ask(second, '/admin/actors')).status, 200);
  await third.end('SIGTERM');
  assert.equal((await ask(second, '/admin/actors')).status, 200);
  const made = await nodes.first.call('POST', '/instance/create', { body: { name: 'just made' } });
  const { id } = made.body['instance'] as { readonly id: string };
  const seen = await second.call('GET', `/admin/actors/${id}`);
  assert.equal(seen.status, 200, JSON.stringify(seen.body));
});

interface NodeRow {
  readonly name: string;
  readonly state: string;
  readonly owned: number;
  readonly capacity: number;
  readonly leaseMs: number;
  readonly renewedMs: number;
  readonly taken: Readonly<Record<string, number>>;
}

const rowsAt = async (node: GatewayProcess): Promise<readonly NodeRow[]> =>
  (await node.call('GET', '/admin/nodes')).body as unknown as readonly NodeRow[];
const rowAt = async (node: GatewayProcess, name: string): Promise<NodeRow | undefined> =>
  (await rowsAt(node)).find((row) => row.name === name);

const metric = async (node: GatewayProcess, line: RegExp): Promise<number> => {
  const answer = await fetch(`${node.address}/metrics`, { headers: { admintoken: adminToken } });
  return Number(line.exec(await answer.text())?.[1] ?? Number.NaN);
};

test('nodes: each shows all nodes, its own metrics, and the reasons for moves of instances', withNats, async () => {
  const account = await nodes.scene.paired();
  const [owner = ''] = await nodes.settled([account]);
  const [has, other] = owner === 'first' ? [nodes.first, second] : [second, nodes.first];
  const row = await until(async () => {
    const seen = await rowAt(other, owner);
    return (seen?.owned ?? 0) > 0 && seen;
  }, 'the other node shows it');
  assert.equal(row.state, 'live');
  assert.ok(row.leaseMs > 0 && row.leaseMs <= 15_000, `${row.leaseMs}`);
  assert.ok(row.renewedMs >= 0 && row.renewedMs < 15_000, `${row.renewedMs}`);
  assert.equal(await metric(has, /^dormouse_node_sessions (\d+)$/m), row.owned);
  assert.equal(await metric(has, /^dormouse_sessions\{state="connected",status="connected"\} (\d+)$/m), 1);
  assert.ok(Number.isNaN(await metric(other, /^dormouse_sessions\{state="connected",status="connected"\} (\d+)$/m)), 'counted on one node');
  const { body: numbers } = await other.call('GET', '/admin/numbers');
  assert.equal(numbers['node'], owner === 'first' ? 'second' : 'first');
  assert.equal(numbers['connected'], 0);
  assert.ok((numbers['nodes'] as readonly NodeRow[]).some(({ name, owned }) => name === owner && owned === row.owned));
  assert.equal((await other.call('POST', `/admin/nodes/${owner}/drain`)).status, 202);
  await until(async () => (await rowAt(other, owner))?.state === 'draining', 'it drains');
  const to = owner === 'first' ? 'second' : 'first';
  await nodes.ownedBy(to, [account]);
  await until(async () => ((await rowAt(other, to))?.taken['drained'] ?? 0) > 0, 'the cause is shown');
  await until(async () => (await metric(has, /^dormouse_leases_ended_total\{cause="drained"\} (\d+)$/m)) > 0, 'the one counts it');
  await until(async () => (await metric(other, /^dormouse_leases_taken_total\{cause="drained"\} (\d+)$/m)) > 0, 'the other one too');
  await has.end('SIGKILL');
  await until(async () => (await rowAt(other, owner))?.state === 'gone', 'one that was killed is shown as gone');
  await has.start();
});

interface Seen {
  readonly id: string;
  readonly state: string;
  readonly node: string;
  readonly steps: readonly { readonly n: number; readonly to: string }[];
  readonly lease: { readonly node: string; readonly since: number; readonly cause: string; readonly answers: boolean } | null;
}

/** Reads a stream, and collects its events. */
const listen = async (node: GatewayProcess, path: string) => {
  const abort = new AbortController();
  const response = await fetch(node.address + path, { headers: { admintoken: adminToken }, signal: abort.signal });
  assert.equal(response.status, 200);
  const state = { text: '', leave: () => abort.abort() };
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) state.text += Buffer.from(chunk).toString();
  };
  void read().catch(() => undefined);
  return state;
};

test(
  'inspector: a node shows the instances of all nodes as their owners see them, in lists, in detail and in steps',
  withNats,
  async () => {
    const account = await nodes.scene.paired();
    const [owner = ''] = await nodes.settled([account]);
    const other = owner === 'first' ? second : nodes.first;
    const { id } = await account.seen();
    const seen = async () => (await other.call('GET', `/admin/actors/${id}`)).body as unknown as Seen;
    // A node that answers late is left out of an answer.
    const { steps, lease, node } = await until(async () => {
      const one = await seen();
      return one.state === 'connected' && one.lease?.answers && one;
    }, 'the other node shows its state');
    assert.ok(steps.length > 2, 'with its steps');
    assert.deepEqual([node, lease?.node, lease?.answers], [owner, owner, true]);
    assert.ok((lease?.since ?? 0) > 0 && ['placed', 'asked', 'moved'].includes(lease?.cause ?? ''));
    await until(async () => {
      const page = (await other.call('GET', `/admin/actors?q=${id}`)).body as unknown as {
        readonly rows: readonly Seen[];
        readonly silent: object;
      };
      const [row] = page.rows;
      return JSON.stringify(page.silent) === '[]' && row?.state === 'connected' && row.node === owner;
    }, 'the list shows it too');
    const stream = await listen(other, `/admin/actors/${id}/stream`);
    const from = await listen(other, `/admin/actors/${id}/stream?after=1`);
    await until(() => /"n":2,/.test(from.text), 'steps that were missed come first');
    await nodes.scene.platform.sandbox.fault({ kind: 'streamError', code: 503, number: account.number });
    await until(() => stream.text.includes('"event":"platform.closed"'), 'a step of another node comes');
    assert.equal([...stream.text.matchAll(/"event":"platform.closed"/g)].length, 1, 'once');
    for (const { leave } of [stream, from]) leave();
  },
);

test('inspector: an instance of a node that does not answer is shown from the database, with the name of the node', withNats, async () => {
  const account = await nodes.scene.paired();
  const [owner = ''] = await nodes.settled([account]);
  const other = owner === 'first' ? second : nodes.first;
  const { id } = await account.seen();
  await nats.stop();
  await until(async () => {
    const seen = (await other.call('GET', `/admin/actors/${id}`)).body as unknown as Seen;
    return seen.lease?.node === owner && !seen.lease.answers;
  }, 'the page names the node');
  await until(async () => {
    const page = (await other.call('GET', '/admin/actors')).body as unknown as { readonly silent: readonly string[] };
    return page.silent.includes(owner);
  }, 'the list names the node');
  await nats.start();
  await until(async () => ((await other.call('GET', `/admin/actors/${id}`)).body as unknown as Seen).lease?.answers, 'it answers again');
});

test('sign-in: a new admin token ends all earlier sign-ins on every node', withNats, async () => {
  const [here, there] = [await signIn(nodes.first), await signIn(second)];
  const rotated = await nodes.first.call('POST', '/admin/token/rotate');
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  for (const ask of [here, there])
    for (const node of [nodes.first, second]) await until(async () => (await ask(node, '/admin/actors')).status === 401, 'it ends');
  const again = await signIn(second, String(rotated.body['admin_token']));
  assert.equal((await again(nodes.first, '/admin/actors')).status, 200);
});
