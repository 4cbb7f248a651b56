/** Kills the process while thousands of deliveries wait. All of them arrive, in order within their chat, and a repetition has the same id. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { testDatabase, writerOf } from '#test/support/database.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { Receivers, type Heard } from '#test/support/hostile-receivers.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage();
const receivers = new Receivers();
after(() => receivers.close());

/** Milliseconds: thousands of posts take their time on a busy machine. */
const patience = 200_000;
const [instances, chats, perChat, kills] = [4, 15, 40, 4];
const total = instances * chats * perChat;

/** The number of further posts before each kill. */
const between = Math.floor(total / (kills + 2));

const open = async (): Promise<GatewayProcess> => {
  const gateway = new GatewayProcess({
    platformUrl: 'ws://127.0.0.1:9/',
    env: {
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('hex'),
      // The circuit stays closed when the receiver fails briefly, because quick retries keep the order.
      CIRCUIT_FAILURES: '10000',
      WEBHOOK_QUICK_RETRIES_MS: '0,20,20,20,20,20,20,20',
    },
  });
  after(() => gateway.close());
  return gateway.start();
};

/** Creates instances with a webhook each, stops the gateway, and commits their events. */
const fill = async (gateway: GatewayProcess, url: string): Promise<ReadonlyMap<string, string>> => {
  const owners: { readonly id: string; readonly hook: string }[] = [];
  for (let n = 0; n < instances; n += 1) {
    const { body } = await gateway.call('POST', '/instance/create', { body: { name: `shop ${n}` } });
    const { token, instance } = body as { readonly token: string; readonly instance: { readonly id: string } };
    const hooks = await gateway.call('POST', '/webhook', { token, body: { url: `${url}/${n}`, events: ['messages'], enabled: true } });
    owners.push({ id: instance.id, hook: (hooks.body as unknown as readonly { readonly id: string }[])[0]?.id ?? '' });
  }
  await gateway.end('SIGKILL');
  const events = new Map<string, string>();
  for (const { id, hook } of owners) {
    const writer = await writerOf(storage, id);
    for (let n = 0; n < perChat; n += 1) {
      const group = Array.from({ length: chats }, (_, chat): Entry => ({
        kind: 'event',
        type: 'messages',
        lane: `${chat}`,
        payload: { n, chat },
      }));
      const committed = await storage.journal.commit(writer, group, () => [hook]);
      for (const event of committed.events) events.set(event.id, `${id} ${String(event.payload['chat'])} ${String(event.payload['n'])}`);
    }
  }
  return events;
};

test('delivery: a gateway that is killed again and again delivers everything, in order, and repeats only under the same id', async (t) => {
  const heard: Heard[] = [];
  let posts = 0;
  // Every ninth post fails, and some are slow.
  const url = await receivers.friendly(heard, async () => {
    posts += 1;
    if (posts % 40 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
    return posts % 9 === 0 ? 503 : 200;
  });
  const gateway = await open();
  const events = await fill(gateway, url);
  assert.equal(events.size, total);
  for (let kill = 1; kill <= kills; kill += 1) {
    await gateway.start();
    await until(() => heard.length > kill * between, `${kill * between} posts before a kill`, patience);
    await gateway.end('SIGKILL');
  }
  await gateway.start();
  const rows = async (): Promise<boolean> =>
    (await database.admin.rows({ name: '', text: 'select 1 from outbox limit 1' }, [])).length === 0;
  await until(rows, 'nothing waits', patience);

  const first = new Map<string, number>();
  for (const [at, { id }] of heard.entries()) if (!first.has(id)) first.set(id, at);
  assert.deepEqual(new Set(first.keys()), new Set(events.keys()), 'every event arrived, and nothing else');
  const last = new Map<string, number>();
  for (const [id] of [...first].toSorted(([, a], [, b]) => a - b)) {
    const [instance, chat, n] = (events.get(id) ?? '').split(' ');
    const lane = `${instance} ${chat}`;
    assert.equal(Number(n), (last.get(lane) ?? -1) + 1, `the order in chat ${lane}`);
    last.set(lane, Number(n));
  }
  const bodies = new Map<string, string>();
  for (const { id, body } of heard) {
    const text = JSON.stringify(body);
    assert.equal(bodies.get(id) ?? text, text, 'what comes again is the same');
    bodies.set(id, text);
  }
  t.diagnostic(`${heard.length} posts for ${total} events, ${kills} kills`);
});
