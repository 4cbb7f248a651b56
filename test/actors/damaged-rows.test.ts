/** Tests instances and webhooks whose stored secrets cannot be decrypted. They are set aside with a reason, and work again with a new secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebhookInput } from '#actors/gateway.ts';
import { settle } from '#test/fakes/world.ts';
import { options, paired, staged, text } from './stage.ts';

const reason = (fields: string): string => `values of the instance are damaged in the database: set them anew, then connect: ${fields}`;

for (const wanted of ['online', 'asleep'] as const)
  test(`damaged rows: an instance that shall be ${wanted} opens no connection, is stored as offline with the reason, and others work`, async () => {
    const { world, gateway } = await staged([{ id: 'r1', ...paired, wanted, token: '', unreadable: 'token, proxy' }, 'r2']);
    assert.equal(world.platform.links.get('r1')?.opens.length ?? 0, 0);
    assert.equal(gateway.view('r2')?.connected, true);
    assert.ok((await world.answerOf(gateway.send('r2', text(), options))).ok);
    await world.time.pass(1_000);
    const { wanted: stored, lastDisconnectReason, lastDisconnectCause, lastDisconnect } = world.db.instances.get('r1') ?? {};
    assert.deepEqual([stored, lastDisconnectReason, lastDisconnectCause], ['offline', reason('token, proxy'), 'unreadable']);
    assert.ok((lastDisconnect ?? 0) > 0);
    assert.equal(gateway.authenticate(''), null);
    const { status, record } = gateway.view('r1') ?? {};
    assert.deepEqual([status, record?.lastDisconnectReason], ['disconnected', reason('token, proxy')]);
    const page = await gateway.actors({ states: [], causes: [], text: '', sort: 'name', descending: false, after: '', limit: 10 });
    assert.ok(page.ok);
    const row = page.value.rows.find(({ id }) => id === 'r1');
    assert.deepEqual([row?.needsPerson, row?.cause], [true, 'unreadable']);
  });

test('damaged rows: a command that needs the session is refused with the reason, and works when the fields are set again', async () => {
  const { world, gateway } = await staged([{ id: 'r1', ...paired, token: '', unreadable: 'token, proxy' }]);
  const refused = async (fields: string): Promise<void> => {
    const later = { ...options, async: true };
    const calls = [gateway.connect('r1', {}), gateway.send('r1', text(), options), gateway.send('r1', text(), later)];
    for (const result of await world.answerOf(Promise.all(calls)))
      assert.deepEqual(result.ok ? null : [result.refusal.reason, result.refusal.message], ['conflict', reason(fields)]);
  };
  await refused('token, proxy');
  const rotated = await world.answerOf(gateway.rotateToken('r1'));
  assert.ok(rotated.ok);
  assert.equal(gateway.authenticate(rotated.value.record.token), 'r1');
  await refused('proxy');
  assert.ok((await world.answerOf(gateway.changeProxy('r1', { mode: 'none', confirmNone: true }))).ok);
  world.platform.onOpen = (link) => queueMicrotask(() => link.state === 'open' && link.login());
  const connected = await world.answerOf(gateway.connect('r1', {}));
  assert.ok(connected.ok && connected.value.connected);
});

test('damaged rows: an instance is deleted without a connection that bypasses its proxy', async () => {
  const { world, gateway } = await staged([{ id: 'r1', ...paired, token: '', unreadable: 'token, proxy' }]);
  const routes: string[] = [];
  world.platform.onOpen = (link) => {
    const { via } = link.host.route();
    routes.push(via);
    if (via === 'unreadable') link.end(null, { reason: 'unreadable' });
    else link.login();
  };
  assert.ok((await world.answerOf(gateway.remove('r1'))).ok);
  assert.deepEqual(
    routes.filter((via) => via !== 'unreadable'),
    [],
  );
  assert.equal(gateway.view('r1'), null);
});

const damage =
  'secret and headers of the webhook are damaged in the database, and nothing is posted: save the webhook with secret and headers, or delete it';
const input: WebhookInput = { action: 'update', id: 'w1', url: 'http://receiver.test/hook', events: ['All'] };

test('damaged rows: events of a webhook wait, no unsigned post is made, and saving a secret delivers them', async () => {
  const { world, gateway } = await staged(['r1'], {}, (before) => {
    before.hook({ id: 'w1', instanceId: 'r1', unreadable: 'private' });
    before.hook({ id: 'w2', instanceId: 'r1', url: 'http://other.test/hook' });
  });
  const posted = (host: string) => world.receiver.posts.filter(({ url }) => url.includes(host));
  assert.ok((await world.answerOf(gateway.send('r1', text(), options))).ok);
  await world.time.pass(5_000);
  assert.ok(posted('other.test').length > 0);
  assert.equal(posted('receiver.test').length, 0);
  const tried = await gateway.testWebhook('r1', { webhook: 'w1' });
  assert.equal(tried.ok ? '' : tried.refusal.message, damage);
  const unsaid = await gateway.saveWebhook('r1', input);
  assert.equal(unsaid.ok ? '' : unsaid.refusal.message, damage);
  const saved = await gateway.saveWebhook('r1', { ...input, secret: true });
  assert.ok(saved.ok);
  assert.equal(saved.value.webhooks.find(({ id }) => id === 'w1')?.unreadable, undefined);
  await settle();
  await world.time.pass(5_000);
  assert.equal(posted('receiver.test').length, posted('other.test').length);
  for (const { headers } of posted('receiver.test')) assert.match(headers['webhook-signature'] ?? '', /^v1,/);
});

test('damaged rows: a webhook with damaged event names keeps all events, and saving the names delivers the wanted ones', async () => {
  const { world, gateway } = await staged(['r1'], {}, (before) => {
    before.hook({ id: 'w1', instanceId: 'r1', events: [], excludeMessages: [], unreadable: 'events, exclude_messages' });
  });
  assert.ok((await world.answerOf(gateway.send('r1', text(), options))).ok);
  await world.time.pass(5_000);
  assert.equal(world.receiver.posts.length, 0);
  const reason =
    /^events, excludeMessages of the webhook are damaged in the database.* save the webhook with events and excludeMessages, or delete it$/;
  const unsaid = await gateway.saveWebhook('r1', { ...input, secret: true });
  assert.match(unsaid.ok ? '' : unsaid.refusal.message, reason);
  assert.ok((await gateway.saveWebhook('r1', { ...input, events: ['messages'], excludeMessages: [] })).ok);
  await settle();
  await world.time.pass(5_000);
  assert.ok(world.receiver.posts.length > 0);
  for (const { body } of world.receiver.posts) assert.match(JSON.stringify(body), /"EventType":"messages"/);
});
