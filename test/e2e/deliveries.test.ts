/** Tests deliveries of the whole service to real receivers. Hostile ones delay no other, and each delivery can be inspected and replayed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Entry, EventType } from '#actors/model.ts';
import { testDatabase, writerOf } from '#test/support/database.ts';
import { hostileNames, Receivers, type Heard } from '#test/support/hostile-receivers.ts';
import { TestService, type Reply } from '#test/support/service.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage();
const quick = {
  WEBHOOK_TIMEOUT_MS: '20000',
  WEBHOOK_QUICK_RETRIES_MS: '0,30,30',
  WEBHOOK_SLOW_RETRIES_MS: '50',
  CIRCUIT_FAILURES: '10000',
};
const service = await TestService.open(database.url, quick);
const receivers = new Receivers();
after(() => receivers.close());

interface Shown {
  readonly id: string;
  readonly webhook: string;
  readonly state: string;
  readonly event: string;
  readonly attempts: number;
  readonly status_code?: number;
  readonly reason?: string;
  readonly next_attempt?: string;
  readonly created: string;
}
interface Page {
  readonly deliveries: readonly Shown[];
  readonly hasMore: boolean;
  readonly queues: readonly { readonly webhook: string; readonly waiting: number; readonly dropped: Readonly<Record<string, number>> }[];
}
type Shop = Awaited<ReturnType<TestService['instance']>>;

const addHook = async (shop: Shop, url: string, more: object = {}): Promise<string> => {
  const { body } = await shop.call('POST', '/webhook', { action: 'add', url, events: ['All'], enabled: true, ...more });
  return (body as readonly { readonly id: string }[]).at(-1)?.id ?? '';
};
const pageOf = async (shop: Shop, query = ''): Promise<Page> => {
  const { status, body } = await shop.call('GET', `/webhook/deliveries${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

/** The webhooks that want the n-th event. */
type Hooks = readonly string[] | ((n: number) => readonly string[]);
/** Commits events while the service is down, so that it finds them at its start. */
const commit = async (shop: Shop, hooks: Hooks, events: readonly { readonly type?: EventType; readonly lane: string }[], env = {}) => {
  await service.stop();
  const entries = events.map(({ type = 'messages', lane }, n): Entry => ({ kind: 'event', type, lane, payload: { lane, n } }));
  const committed = await storage.journal.commit(await writerOf(storage, shop.id), entries, ({ payload }) =>
    typeof hooks === 'function' ? hooks(Number(payload['n'])) : hooks,
  );
  await service.start(env);
  return committed.events.map(({ id }) => id);
};
const lanes = (count: number, of = 3) => Array.from({ length: count }, (_, n) => ({ lane: `chat ${n % of}` }));
const replayed = ({ status, body }: Reply): number => {
  assert.equal(status, 200, JSON.stringify(body));
  return (body as { replayed: number }).replayed;
};

test('deliveries: hostile receivers delay no other, and each of their deliveries shows its outcome', async () => {
  const shop = await service.instance('hostile');
  const heard: Heard[] = [];
  const good = await addHook(shop, await receivers.friendly(heard));
  const bad = new Map<string, string>();
  for (const name of hostileNames) bad.set(await addHook(shop, await receivers.hostile(name)), name);
  const ids = await commit(shop, (n) => (n < 6 ? [good, ...bad.keys()] : [good]), lanes(30), { WEBHOOK_TIMEOUT_MS: '1500' });
  await until(() => new Set(heard.map(({ id }) => id)).size >= 30, 'the friendly receiver has everything');
  const givenUp = (await pageOf(shop, '?state=dead&limit=500')).deliveries.filter(({ webhook }) => bad.get(webhook) === 'never');
  assert.ok(givenUp.length < 6, 'a receiver that never answers still holds deliveries');
  assert.deepEqual(new Set(heard.map(({ id }) => id)), new Set(ids));
  for (const lane of ['chat 0', 'chat 1', 'chat 2']) {
    const order = [...new Set(heard.filter(({ body }) => body['lane'] === lane).map(({ body }) => Number(body['n'])))];
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  }
  const ended = new Set(hostileNames.filter((name) => name !== 'gone' && name !== 'busy'));
  const isOver = async (): Promise<readonly Shown[] | false> => {
    const { deliveries } = await pageOf(shop, '?state=dead&limit=500');
    return [...ended].every((name) => deliveries.some(({ webhook }) => bad.get(webhook) === name)) && deliveries;
  };
  const reasons = new Map((await until(isOver, 'every hostile receiver has a dead delivery')).map((one) => [bad.get(one.webhook), one]));
  const said = (name: string) => [reasons.get(name)?.status_code, reasons.get(name)?.reason, reasons.get(name)?.attempts];
  const away = 'webhook could not be reached:';
  assert.deepEqual(said('never'), [undefined, `${away} no answer in time`, 4]);
  assert.deepEqual(said('reset'), [undefined, `${away} connection closed before the answer`, 4]);
  assert.deepEqual(said('closed'), [undefined, `${away} connection refused`, 4]);
  assert.deepEqual(said('redirect'), [307, 'webhook returned non-success status: 307 Temporary Redirect', 4]);
  assert.deepEqual(said('broken'), [502, 'webhook returned non-success status: 502 Bad Gateway', 4]);
  assert.match(String(said('no TLS')[1]), /TLS failed/);
  const hooks = (await shop.call('GET', '/webhook')).body as unknown as readonly { readonly id: string; readonly enabled: boolean }[];
  assert.deepEqual(
    hooks.filter(({ enabled }) => !enabled).map(({ id }) => bad.get(id)),
    ['gone'],
  );
  const busy = [...bad].find(([, name]) => name === 'busy')?.[0] ?? '';
  const waiting = (await pageOf(shop, `?webhook=${busy}`)).deliveries;
  assert.equal(waiting.length, 6);
  assert.ok(
    waiting.every(({ next_attempt }) => Date.parse(next_attempt ?? '') > Date.now() + 2_000_000),
    'it asked for 50 minutes',
  );
  // The webhooks are deleted so that no later stop waits for them.
  for (const id of bad.keys()) assert.equal((await shop.call('POST', '/webhook', { action: 'delete', id })).status, 200);
});

test('GET /webhook/errors: holds the newest failures of this instance only, with the payload and the capture time', async () => {
  const [shop, other] = [await service.instance('errors'), await service.instance('others')];
  const url = await receivers.hostile('broken');
  const hook = await addHook(shop, url, { addUrlEvents: true });
  await commit(shop, [hook], lanes(25, 25));
  const all = async () => (await shop.call('GET', '/webhook/errors')).body as unknown as readonly Record<string, unknown>[];
  const errors = await until(async () => {
    const found = await all();
    return found.length === 20 && found.every(({ attempts }) => attempts === 4) && found;
  }, 'twenty records of four attempts');
  assert.partialDeepStrictEqual(errors[0], {
    url: `${url}/messages`,
    type: 'local',
    event: 'messages',
    message_type: '',
    status_code: 502,
    error: 'webhook returned non-success status: 502 Bad Gateway',
    payload: { EventType: 'messages', token: shop.token, instanceName: 'errors' },
  });
  const reply = await other.call('GET', '/webhook/errors');
  assert.deepEqual(reply.body, []);
  assert.ok(Math.abs(Date.parse(reply.headers.get('x-webhook-error-capture-started-at') ?? '') - Date.now()) < 3_600_000);
});

interface Details extends Shown {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly tries: readonly { started: string; ms: number; status_code?: number; error?: string; answer?: string }[];
}

test('GET /webhook/deliveries/{id}: shows what was sent without its secrets, and each attempt', async () => {
  const shop = await service.instance('details');
  const heard: Heard[] = [];
  let status = 500;
  const url = await receivers.friendly(heard, () => status);
  const more = { secret: true, headers: { Authorization: 'Bearer hidden' }, addUrlEvents: true };
  const hook = await addHook(shop, url, more);
  const other = await addHook(shop, await receivers.friendly([]));
  const [id = ''] = await commit(shop, [hook, other], [{ lane: 'a' }]);
  const details = async (query = `?webhook=${hook}`): Promise<Details> => {
    const { status: answered, body } = await shop.call('GET', `/webhook/deliveries/${id}${query}`);
    assert.equal(answered, 200, JSON.stringify(body));
    return body as unknown as Details;
  };
  const dead = await until(async () => (await details()).state === 'dead' && details(), 'it is given up');
  const [first] = dead.tries;
  assert.equal(dead.tries.length, 4);
  assert.deepEqual({ ...first, started: 0, ms: 0 }, { started: 0, ms: 0, status_code: 500, error: dead.reason });
  assert.ok(dead.tries.every(({ started, ms }, n) => ms >= 0 && started >= (dead.tries[n - 1]?.started ?? dead.created)));
  const sent = heard[0]!;
  assert.equal(dead.url, `${url}/messages`);
  assert.deepEqual(dead.payload, { ...sent.body, token: '***' });
  const { 'webhook-timestamp': timestamp, ...headers } = dead.headers;
  assert.match(timestamp ?? '', /^\d{10}$/);
  assert.deepEqual(headers, { 'content-type': 'application/json', Authorization: '***', 'webhook-id': id, 'webhook-signature': '***' });
  status = 200;
  assert.equal(replayed(await shop.call('POST', '/webhook/replay', { id, webhook: hook })), 1);
  const done = await until(async () => (await details()).state === 'delivered' && details(), 'it is delivered');
  assert.deepEqual([done.tries.length, done.tries.at(-1)?.status_code, done.attempts], [5, 200, 1]);
  assert.equal((await details(`?webhook=${other}`)).headers['Authorization'], undefined);
  for (const path of [`/webhook/deliveries/unknown`, `/webhook/deliveries/${id}?webhook=unknown`])
    assert.equal((await shop.call('GET', path)).status, 404, path);
  const stranger = await service.instance('stranger');
  assert.equal((await stranger.call('GET', `/webhook/deliveries/${id}`)).status, 404);
  assert.equal((await pageOf(shop, `?webhook=${hook}&from=${Date.parse(done.created)}&to=${done.created}`)).deliveries.length, 1);
  assert.equal((await pageOf(shop, `?from=${Date.parse(done.created) + 1}`)).deliveries.length, 0);
  const never = await shop.call('GET', '/webhook/deliveries?from=2&to=1');
  assert.deepEqual([never.status, never.body], [400, { error: 'from must not be later than to' }]);
});

test('POST /webhook/replay: sends dead and delivered events again, under their ids', async () => {
  const shop = await service.instance('replay');
  const heard: Heard[] = [];
  let status = 500;
  const hook = await addHook(shop, await receivers.friendly(heard, () => status));
  const ids = await commit(shop, [hook], [{ lane: 'a' }, { lane: 'b', type: 'presence' }, { lane: 'c' }]);
  await until(async () => (await pageOf(shop, '?state=dead')).deliveries.length === 3, 'three dead deliveries');
  status = 200;
  heard.length = 0;
  assert.equal(replayed(await shop.call('POST', '/webhook/replay', { id: ids[0] })), 1);
  await until(() => heard.length === 1, 'the one that was asked for');
  assert.equal(replayed(await shop.call('POST', '/webhook/replay', { event: 'presence', webhook: hook })), 1);
  await until(() => heard.length === 2, 'the presence');
  const [last] = (await pageOf(shop, '?state=dead')).deliveries;
  assert.equal(replayed(await shop.call('POST', '/webhook/replay', { from: last?.created, to: Date.now(), state: 'dead' })), 1);
  await until(() => heard.length === 3, 'the last');
  assert.deepEqual(
    heard.map(({ id }) => id),
    [ids[0], ids[1], ids[2]],
  );
  await until(async () => (await pageOf(shop, '?state=delivered')).deliveries.length === 3, 'three delivered');
  await service.restart();
  assert.equal(replayed(await shop.call('POST', '/webhook/replay', { id: ids, state: ['delivered', 'dead'] })), 3);
  await until(() => heard.length === 6, 'all of them again, after a restart');
  await until(async () => (await pageOf(shop, '?state=delivered')).deliveries.length === 3, 'one record a delivery');
  await until(async () => (await pageOf(shop)).queues[0]?.waiting === 0, 'nothing waits');
  for (const [body, text] of [
    [{}, 'say what to replay: id, event, state (waiting, parked, dead, delivered), from or to'],
    [{ from: 2, to: 1 }, 'from must not be later than to'],
    [{ event: 'nonsense' }, 'event must be one of'],
    [{ from: 'yesterday' }, 'from and to must be'],
    [{ id: 'x', state: 'lost' }, 'state must be one of'],
  ] as const) {
    const reply = await shop.call('POST', '/webhook/replay', body);
    assert.equal(reply.status, 400);
    assert.ok((reply.body as { error: string }).error.startsWith(text));
  }
  assert.equal((await shop.call('POST', '/webhook/replay', { id: 'x', webhook: 'unknown' })).status, 404);
});

test('deliveries: excess rows are dropped by importance, counted and shown, and a deleted webhook takes all its rows along', async () => {
  const shop = await service.instance('bounded');
  const hook = await addHook(shop, await receivers.hostile('busy'));
  const types: readonly EventType[] = ['presence', 'messages', 'chats', 'history'];
  await service.restart({ WEBHOOK_QUEUE_ROWS: '25', WEBHOOK_SWEEP_MS: '100' });
  await service.stop();
  const entries = Array.from({ length: 40 }, (_, n): Entry => ({ kind: 'event', type: types[n % 4] ?? 'chats', lane: '', payload: { n } }));
  await storage.journal.commit(await writerOf(storage, shop.id), entries, () => [hook]);
  await service.start({ WEBHOOK_QUEUE_ROWS: '25', WEBHOOK_SWEEP_MS: '100' });
  const { queues } = await until(async () => {
    const page = await pageOf(shop, '?limit=1');
    const dropped = Object.values(page.queues[0]?.dropped ?? {}).reduce((sum, count) => sum + count, 0);
    return dropped >= 15 && page;
  }, 'the bound is kept');
  const dropped = queues[0]?.dropped ?? {};
  assert.equal(
    Object.values(dropped).reduce((sum, count) => sum + count, 0),
    15,
  );
  assert.deepEqual(
    Object.keys(dropped).filter((type) => type !== 'presence' && type !== 'history'),
    [],
  );
  const { deliveries, hasMore } = await pageOf(shop, '?limit=500');
  assert.deepEqual([deliveries.length, hasMore], [25, false]);
  assert.equal(deliveries.filter(({ event }) => event === 'messages').length, 10);
  const second = await pageOf(shop, '?limit=10&offset=10');
  assert.deepEqual([second.deliveries.map(({ id }) => id), second.hasMore], [deliveries.slice(10, 20).map(({ id }) => id), true]);
  await shop.call('POST', '/webhook', { action: 'delete', id: hook });
  assert.deepEqual((await pageOf(shop)).deliveries, []);
  assert.equal((await database.admin.rows({ name: '', text: `select 1 from outbox where webhook_id = '${hook}'` }, [])).length, 0);
  await service.restart();
});

test('globalwebhook: its deliveries name the instance, can be sent again and tried', async () => {
  const heard: Heard[] = [];
  const url = await receivers.friendly(heard);
  const saved = (await service.admin('POST', '/globalwebhook', { url, events: ['All'] })).body as { id: string };
  const [one, two] = [await service.instance('one'), await service.instance('two')];
  const [first] = await commit(one, [saved.id], [{ lane: 'a' }]);
  const [second] = await commit(two, [saved.id], [{ lane: 'a' }]);
  await until(() => heard.length === 2, 'both');
  assert.deepEqual(Object.fromEntries(heard.map(({ body, id }) => [id, body['token']])), {
    [first ?? '']: one.token,
    [second ?? '']: two.token,
  });
  const shown = await until(async () => {
    const { body } = await service.admin('GET', '/globalwebhook/deliveries?state=delivered');
    const { deliveries } = body as { deliveries: readonly { id: string; instance: string }[] };
    return deliveries.length === 2 && deliveries;
  }, 'both are shown');
  assert.deepEqual(new Set(shown.map(({ instance }) => instance)), new Set([one.id, two.id]));
  assert.equal(replayed(await service.admin('POST', '/globalwebhook/replay', { from: 0 })), 2);
  await until(() => heard.length === 4, 'both again');
  const tried = (await service.admin('POST', '/globalwebhook/test', { event: 'call' })).body as { ok: boolean };
  assert.equal(tried.ok, true);
  assert.partialDeepStrictEqual(heard[4]?.body, { EventType: 'call', test: true, token: '', owner: '' });
  assert.equal(replayed(await one.call('POST', '/webhook/replay', { from: 0 })), 0, 'an instance reaches only its own');
});

test('deliveries: the text of a refusal is for the operator only, who does not choose the address', async () => {
  const shop = await service.instance('texts');
  const url = await receivers.hostile('broken');
  const hook = await addHook(shop, url);
  const saved = (await service.admin('POST', '/globalwebhook', { url, events: ['All'] })).body as { id: string };
  const [id = ''] = await commit(shop, [hook, saved.id], [{ lane: 'a' }]);
  await until(async () => (await pageOf(shop, '?state=dead')).deliveries.length === 1, 'it is given up');
  const own = await shop.call('GET', `/webhook/deliveries/${id}`);
  assert.ok(own.status === 200 && !JSON.stringify(own.body).includes('<html>'));
  const path = `/globalwebhook/deliveries/${id}`;
  const shown = await until(async () => {
    const { body } = await service.admin('GET', path);
    const details = body as unknown as Details & { instance: string };
    return details.state === 'dead' && details;
  }, 'the global one is given up');
  assert.deepEqual([shown.instance, shown.payload['token']], [shop.id, '***']);
  assert.deepEqual(
    shown.tries.map(({ answer }) => answer),
    [undefined, undefined, undefined, '<html>'],
  );
  assert.equal((await shop.call('GET', path)).status, 401);
});
