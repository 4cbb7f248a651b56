/** Tests the history of failed deliveries of the whole service, with real receivers that fail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase, writerOf } from '#test/support/database.ts';
import { Receivers } from '#test/support/hostile-receivers.ts';
import { TestService, type Reply } from '#test/support/service.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage();
const quick = { WEBHOOK_TIMEOUT_MS: '2000', WEBHOOK_QUICK_RETRIES_MS: '0,20,20', WEBHOOK_SLOW_RETRIES_MS: '40', CIRCUIT_FAILURES: '10000' };
const service = await TestService.open(database.url, quick);
const receivers = new Receivers();
after(() => receivers.close());

type Shop = Awaited<ReturnType<TestService['instance']>>;
type Shown = Readonly<Record<string, unknown>>;

const own = { url: '', events: ['All'], enabled: true, addUrlEvents: true };
const idOf = ({ body, status }: Reply): string => {
  assert.equal(status, 200, JSON.stringify(body));
  return ([body].flat()[0] as unknown as { readonly id: string }).id;
};
/** Commits events while the service is down, so that it finds them at its start. */
const commit = async (shop: Shop, hooks: readonly string[], count: number, env = {}): Promise<void> => {
  await service.stop();
  const entries = Array.from({ length: count }, (_, n) => ({ kind: 'event', type: 'call', lane: `${n}`, payload: { n } }) as const);
  await storage.journal.commit(await writerOf(storage, shop.id), entries, () => hooks);
  await service.start(env);
};
/** Returns the records when there are `count` of them, all after their last attempt. */
const settled = (ask: () => Promise<Reply>, count: number): Promise<readonly Shown[]> =>
  until(
    async () => {
      const errors: readonly Shown[] = (await ask()).body;
      return errors.length === count && errors.every(({ attempts }) => attempts === 4) && errors;
    },
    `${count} records of four attempts`,
    120_000,
  );
const captureOf = ({ headers }: Reply): number => Date.parse(headers.get('x-webhook-error-capture-started-at') ?? '');

test('errors: the global webhook has its own history, which no instance can read and a restart clears', async () => {
  const [one, two] = [await service.instance('one'), await service.instance('two')];
  const url = await receivers.hostile('closed');
  const global = idOf(await service.admin('POST', '/globalwebhook', { ...own, url }));
  const local = idOf(await one.call('POST', '/webhook', { ...own, url: `${url}/local`, addUrlEvents: false }));
  const ofGlobal = () => service.admin('GET', '/globalwebhook/errors');
  const ofOne = () => one.call('GET', '/webhook/errors');
  const before = captureOf(await ofGlobal());
  await commit(one, [global, local], 2);
  const all = await settled(ofGlobal, 2);
  assert.partialDeepStrictEqual(all[0], {
    url: `${url}/call`,
    type: 'global',
    event: 'call',
    message_type: '',
    error: 'webhook could not be reached: connection refused',
    payload: { EventType: 'call', token: one.token, instanceName: 'one' },
  });
  assert.ok(!Object.hasOwn(all[0] ?? {}, 'status_code'), 'there was no answer');
  const locals = await settled(ofOne, 2);
  assert.partialDeepStrictEqual(locals[0], { url: `${url}/local`, type: 'local', payload: { token: one.token } });
  assert.ok(Date.parse(String(all[0]?.['created'])) >= captureOf(await ofGlobal()) && captureOf(await ofGlobal()) > before);
  assert.deepEqual((await two.call('GET', '/webhook/errors')).body, []);

  for (const [headers, status, error] of [
    [{}, 401, 'Unauthorized'],
    [{ token: one.token }, 401, 'Unauthorized'],
    [{ admintoken: one.token }, 403, 'This is a public demo server. This endpoint has been disabled.'],
  ] as const) {
    const refused = await service.call('GET', '/globalwebhook/errors', headers);
    assert.deepEqual([refused.status, refused.body], [status, { error }]);
  }
  assert.equal((await service.call('GET', '/webhook/errors', {})).status, 401);
  await service.restart();
  assert.deepEqual([(await ofGlobal()).body, (await ofOne()).body], [[], []]);
});

test('errors: an address that is not allowed is refused when it is set, and recorded when it is posted to', async () => {
  const shop = await service.instance('guarded');
  const url = await receivers.hostile('never');
  const input = { url, events: ['All'], enabled: true };
  const hook = idOf(await shop.call('POST', '/webhook', input));
  await commit(shop, [hook], 1, { ALLOW_PRIVATE_RECEIVERS: 'private' });
  const [error] = await settled(() => shop.call('GET', '/webhook/errors'), 1);
  const reason = 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS';
  assert.deepEqual([error?.['error'], error?.['status_code'], error?.['url']], [`webhook could not be reached: ${reason}`, undefined, url]);
  for (const [address, found] of [
    [url, 'loopback'],
    ['http://[::ffff:7f00:1]/', 'loopback'],
    ['http://169.254.169.254/latest/', 'metadata'],
    ['http://169.254.1.1/', 'link-local'],
    ['http://0.0.0.0/', 'unspecified'],
    ['http://239.1.1.1/', 'multicast'],
  ] as const) {
    const own = await shop.call('POST', '/webhook', { ...input, url: address });
    assert.deepEqual(
      [own.status, own.body],
      [400, { error: `url points to an address that is not allowed (${found}): see ALLOW_PRIVATE_RECEIVERS` }],
      address,
    );
    const shared = await service.admin('POST', '/globalwebhook', { ...input, url: address });
    const hint = `url points to an address that is not allowed (${found}): see ALLOW_PRIVATE_RECEIVERS`;
    assert.equal(shared.headers.get('x-error-hint'), hint);
    assert.deepEqual([shared.status, shared.body], [400, { error: 'Invalid payload' }], address);
  }
  assert.equal(
    (await shop.call('POST', '/webhook', { ...input, url: 'http://10.0.0.1/' })).status,
    200,
    'the setting allows private networks',
  );
  await service.restart({ ALLOW_PRIVATE_RECEIVERS: 'none' });
  const { status, body } = await shop.call('POST', '/webhook', { ...input, url: 'http://10.0.0.1/' });
  assert.deepEqual([status, body], [400, { error: 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS' }]);
  await service.restart();
});
