/** Tests the audit log on the whole service with its database: requests with an entry, its content, pages and exports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/support/database.ts';
import { type AuditEntry, password, peopleOf } from '#test/support/people.ts';
import { adminToken, TestService } from '#test/support/service.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const service = await TestService.open(database.url, { TRUSTED_PROXIES: 'loopback' });
const { newUser, signedIn, audit } = peopleOf(service);

test('audit: a change makes one entry with its user, address, action and outcome, and a read makes none', async () => {
  const user = await newUser('administrator');
  const { ask } = await signedIn(user.name);
  const { id } = await service.instance('audited');
  const named = { 'x-instance': id, 'x-forwarded-for': '203.0.113.7' };
  await ask('GET', '/instance/status', undefined, named);
  assert.equal((await ask('POST', '/instance/updateInstanceName', { name: 'renamed' }, named)).status, 200);
  await until(async () => (await audit(`who=${user.name}&instance=${id}`)).length > 0, 'the entry is stored');
  assert.deepEqual(
    (await audit(`who=${user.name}&instance=${id}`)).map(({ actor, who, address, method, route, instance, status }) => ({
      actor,
      who,
      address,
      method,
      route,
      instance,
      status,
    })),
    [
      {
        actor: 'user',
        who: user.name,
        address: '203.0.113.7',
        method: 'POST',
        route: '/instance/updateInstanceName',
        instance: id,
        status: 200,
      },
    ],
  );
  const created = await audit(`instance=${id}&actor=adminToken`);
  assert.deepEqual(
    created.map(({ route, who }) => [route, who]),
    [['/instance/create', '']],
  );
});

test('audit: the token of an instance is named by the instance, messages are left out, and no secret is stored', async () => {
  const one = await service.instance('token-audited');
  await one.call('POST', '/webhook', { url: 'http://127.0.0.1:9/hook?key=very-secret-key' });
  await one.call('POST', '/send/text', { number: '5511999999999', text: 'a private text' });
  await service.call('POST', '/admin/users', { admintoken: 'a-wrong-admin-token' }, { name: 'x', role: 'viewer', password });
  await until(async () => (await audit(`who=${one.id}`)).length > 0, 'the entry is stored');
  assert.deepEqual(
    (await audit(`who=${one.id}`)).map(({ actor, route }) => [actor, route]),
    [['instanceToken', '/webhook']],
  );
  const rows = JSON.stringify(await database.admin.rows({ name: '', text: 'select * from audit_entry' }, []));
  for (const secret of [one.token, adminToken, 'very-secret-key', 'a private text', password, 'a-wrong-admin-token'])
    assert.ok(!rows.includes(secret), secret);
});

test('audit: a request that a role does not allow makes an entry with 403, and repeated ones make one entry a minute', async () => {
  const { name } = await newUser('viewer');
  const { ask } = await signedIn(name);
  for (let n = 0; n < 30; n += 1) assert.equal((await ask('POST', '/admin/token/rotate', {})).status, 403);
  await until(async () => (await audit(`who=${name}`)).some(({ status }) => status === 403), 'the entry is stored');
  assert.deepEqual(
    (await audit(`who=${name}`)).map(({ route, status }) => [route, status]),
    [
      ['/admin/token/rotate', 403],
      ['/admin/session/user', 200],
    ],
  );
});

test('audit: a request that a role does not allow names the instance that it was for', async () => {
  const { name } = await newUser('operator');
  const { ask } = await signedIn(name);
  const { id } = await service.instance('kept');
  assert.equal((await ask('DELETE', '/instance', undefined, { 'x-instance': id })).status, 403);
  await until(async () => (await audit(`who=${name}`)).some(({ status }) => status === 403), 'the entry is stored');
  assert.deepEqual(
    (await audit(`instance=${id}&who=${name}`)).map(({ route, status }) => [route, status]),
    [['/instance', 403]],
  );
});

test('audit: refused requests of one route for instances that do not exist share one entry', async () => {
  const { name } = await newUser('viewer');
  const { ask } = await signedIn(name);
  for (let n = 0; n < 20; n += 1) {
    assert.equal((await ask('POST', '/instance/create', { name: 'x' }, { 'x-instance': `made-up-${n}` })).status, 403);
    assert.equal((await ask('POST', `/admin/actors/made-up-${n}/events`, { type: 'wake' })).status, 403);
  }
  await until(async () => (await audit(`who=${name}`)).length >= 3, 'the entries are stored');
  assert.deepEqual(
    (await audit(`who=${name}`)).map(({ route, instance, status }) => [route, instance, status]),
    [
      ['/admin/actors/:id/events', '', 403],
      ['/instance/create', '', 403],
      ['/admin/session/user', '', 200],
    ],
  );
});

test('audit: a client that goes before the answer is noted too', async () => {
  const { id, token } = await service.instance('impatient');
  const gone = new AbortController();
  const asked = fetch(`${service.address}/instance/connect`, {
    method: 'POST',
    headers: { token, 'content-type': 'application/json' },
    body: '{}',
    signal: gone.signal,
  });
  const isConnecting = async (): Promise<boolean> => {
    const { body } = await service.admin('GET', '/instance/all');
    return (body as readonly { readonly id: string; readonly status: string }[]).some(
      (one) => one.id === id && one.status === 'connecting',
    );
  };
  // The gateway has received the request, and answers five seconds later.
  await until(isConnecting, 'the session connects');
  gone.abort();
  await assert.rejects(asked, { name: 'AbortError' });
  await until(async () => (await audit(`who=${id}`)).length > 0, 'the entry is stored');
  assert.equal((await audit(`who=${id}`))[0]?.route, '/instance/connect');
});

test('audit: each page continues after its cursor, and an export has every entry once', async () => {
  const { body } = await service.admin('GET', '/admin/audit?limit=1000');
  const all = (body as { readonly entries: readonly AuditEntry[] }).entries;
  const first = (await service.admin('GET', '/admin/audit?limit=3')).body as {
    readonly entries: readonly AuditEntry[];
    readonly next: number;
  };
  const second = (await service.admin('GET', `/admin/audit?limit=3&before=${first.next}`)).body as typeof first;
  assert.deepEqual([...first.entries, ...second.entries], all.slice(0, 6));
  const headers = { admintoken: adminToken };
  const lines = await (await fetch(`${service.address}/admin/audit?format=ndjson`, { headers })).text();
  assert.deepEqual(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
    all,
  );
  const csv = await fetch(`${service.address}/admin/audit?format=csv&actor=adminToken`, { headers });
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [head, ...rows] = (await csv.text()).trimEnd().split('\r\n');
  assert.equal(head, 'id,at,actor,who,address,method,route,instance,subject,status');
  assert.equal(rows.length, all.filter(({ actor }) => actor === 'adminToken').length);
});

for (const format of ['ndjson', 'csv'])
  test(`audit: an export as ${format} that the database refuses gets the usual error`, async () => {
    const run = (text: string) => database.admin.rows({ name: '', text }, []);
    await run('alter table audit_entry rename to audit_entry_away');
    try {
      const { status } = await fetch(`${service.address}/admin/audit?format=${format}`, { headers: { admintoken: adminToken } });
      assert.equal(status, 503);
    } finally {
      await run('alter table audit_entry_away rename to audit_entry');
    }
  });

test('audit: a time filter includes its start and excludes its end', async () => {
  const [entry] = await audit('limit=1');
  assert.ok(entry);
  const { at } = entry;
  assert.ok((await audit(`from=${at}`)).length >= 1);
  assert.equal((await audit(`from=${at + 1}`)).length, 0);
  assert.ok((await audit(`to=${at}`)).every((one) => one.at < at));
});
