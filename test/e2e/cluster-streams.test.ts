/** Tests that a stream resumes at another node without loss, with NATS keeping the sent events. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { until } from '#test/support/until.ts';

const patience = 120_000;

let nats: NatsServer;
let nodes: Nodes;
let all: Map<string, GatewayProcess>;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  const [second, third] = [nodes.another('second'), nodes.another('third')];
  await Promise.all([second.start(), third.start()]);
  all = new Map([
    ['first', nodes.first],
    ['second', second],
    ['third', third],
  ]);
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

class Reader {
  readonly #abort = new AbortController();
  #text = '';

  /** Opens a stream of messages at a node. `lastEventId` is that of the stream before. */
  static async open(node: GatewayProcess, { token }: Account, lastEventId = ''): Promise<Reader> {
    const reader = new Reader();
    const headers: Record<string, string> = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const response = await fetch(`${node.address}/sse?token=${token}&events=messages`, { headers, signal: reader.#abort.signal });
    assert.equal(response.status, 200);
    void reader.#read(response).catch(() => undefined);
    return reader;
  }

  /** Returns the platform ids of the messages so far, in order. */
  get messages(): readonly string[] {
    return [...this.#text.matchAll(/"messageid":"([^"]+)"/g)].map(([, id = '']) => id);
  }

  get lastEventId(): string {
    return [...this.#text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '';
  }

  get hasGap(): boolean {
    return this.#text.includes(': gap');
  }

  async got(ids: readonly string[], ms = patience): Promise<void> {
    await until(
      () => ids.every((id) => this.messages.includes(id)),
      () => `the reader gets ${ids.join(' ')}; it has ${this.#text}`,
      ms,
    );
    assert.deepEqual(this.messages, ids, 'each once, in its order');
  }

  cut(): void {
    this.#abort.abort();
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) this.#text += decoder.decode(chunk, { stream: true });
  }
}

/** Writes messages of the contact, each after the last one is stored. Returns their ids. */
const write = async (account: Account, count: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const id = await nodes.scene.write(account, `streamed ${n} ${Math.random()}`);
    await nodes.scene.told([id], patience);
    ids.push(id);
  }
  return ids;
};

/** Returns the name of the owner and the two other nodes. The owner keeps the session while it runs. */
const rolesOf = async (account: Account): Promise<readonly [string, GatewayProcess, GatewayProcess]> => {
  const [owner = ''] = await nodes.settled([account]);
  const [b, c] = [...all].filter(([name]) => name !== owner).map(([, node]) => node);
  return [owner, b!, c!];
};

test('streams: a reader that was cut resumes at another node, with each event once', withNats, async () => {
  const account = await nodes.scene.paired();
  const [owner, b, c] = await rolesOf(account);
  const before = await Reader.open(b, account);
  await before.got(await write(account, 2));
  before.cut();
  const meanwhile = await write(account, 3);
  const next = await Reader.open(c, account, before.lastEventId);
  await next.got(meanwhile);
  const live = await write(account, 1);
  await next.got([...meanwhile, ...live]);
  assert.equal(next.hasGap, false);
  // The same holds at the owner itself, and if no event was missed.
  const last = await Reader.open(all.get(owner)!, account, next.lastEventId);
  const more = await write(account, 1);
  await last.got(more);
  assert.equal(last.hasGap, false);
  const unknown = await Reader.open(b, account, '00000000-0000-4000-8000-000000000000');
  await until(() => unknown.hasGap, 'an id that is not kept is a gap');
  for (const reader of [next, last, unknown]) reader.cut();
});

test('streams: a reader of the owner resumes at another node after the owner was killed', withNats, async () => {
  const account = await nodes.scene.paired();
  const [owner, b, c] = await rolesOf(account);
  const killed = all.get(owner)!;
  const [atOwner, elsewhere] = [await Reader.open(killed, account), await Reader.open(b, account)];
  const first = await write(account, 2);
  await atOwner.got(first);
  await elsewhere.got(first);
  const { lastEventId } = elsewhere;
  elsewhere.cut();
  const second = await write(account, 1);
  await atOwner.got([...first, ...second]);
  await killed.end('SIGKILL');
  // The sent events are available even while the instance has no owner.
  const early = await Reader.open(c, account, lastEventId);
  await early.got(second);
  await until(async () => !['', owner].includes((await nodes.owners([account]))[0]!), 'another node takes the instance', patience);
  const [heir = ''] = await nodes.owners([account]);
  await nodes.at(all.get(heir)!, account).reaches('connected', patience);
  const third = await write(account, 2);
  await early.got([...second, ...third]);
  const late = await Reader.open(b, account, atOwner.lastEventId);
  await late.got(third);
  const fourth = await write(account, 1);
  await late.got([...third, ...fourth]);
  assert.deepEqual([early.hasGap, late.hasGap], [false, false]);
  for (const reader of [early, late]) reader.cut();
  await killed.start();
});

test('streams: a reader resumes after the session moved, also at the new owner', withNats, async () => {
  const account = await nodes.scene.paired();
  const [owner, b, c] = await rolesOf(account);
  const cut = await Reader.open(b, account);
  await cut.got(await write(account, 1));
  cut.cut();
  const before = await write(account, 1);
  await all.get(owner)!.end('SIGTERM');
  for (const node of [b, c]) await nodes.at(node, account).reaches('connected', patience);
  const after = await write(account, 2);
  const readers = [await Reader.open(b, account, cut.lastEventId), await Reader.open(c, account, cut.lastEventId)];
  const live = await write(account, 1);
  for (const reader of readers) {
    await reader.got([...before, ...after, ...live]);
    assert.equal(reader.hasGap, false);
    reader.cut();
  }
  await all.get(owner)!.start();
});

test('streams: while NATS is away events are lost, and a reader is told of the gap', withNats, async () => {
  const account = await nodes.scene.paired();
  const [owner, b, c] = await rolesOf(account);
  const losses = (): number => all.get(owner)!.printed.split('bus.lost').length;
  const [cut, stays] = [await Reader.open(b, account), await Reader.open(c, account)];
  const first = await write(account, 1);
  await cut.got(first);
  await stays.got(first);
  cut.cut();
  const before = losses();
  await nats.stop();
  await until(() => losses() > before, 'the owner has lost NATS: what happens from now on is not sent');
  await write(account, 1);
  await nats.start();
  await until(
    async () => {
      await write(account, 1);
      return stays.messages.length > 1;
    },
    'events are sent again',
    patience,
  );
  assert.equal(stays.hasGap, true, 'of a stream that is open');
  const next = await Reader.open(b, account, cut.lastEventId);
  // If that node reached NATS later than the others, the next event reveals the gap.
  await until(
    async () => {
      await write(account, 1);
      return next.hasGap;
    },
    'of one that comes back',
    patience,
  );
  for (const reader of [stays, next]) reader.cut();
});
